#pragma once

#include <cstddef>
#include <string_view>

namespace relay::lang {

// Bytes of the code point at the start of `text`, which is not empty; 0 if they are no UTF-8.
std::size_t code_point_length(std::string_view text);

// How many code points `text` has; a byte that is no UTF-8 counts as one.
std::size_t code_points(std::string_view text);

}  // namespace relay::lang
