#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace relay::lang {

// Bytes of the code point at the start of `text`, which is not empty; 0 if they are no UTF-8.
std::size_t code_point_length(std::string_view text);

// How many code points `text` has; a byte that is no UTF-8 counts as one.
std::size_t code_points(std::string_view text);

// Would a terminal obey the code point at the start of `text`, which is not empty, and not show it?
// Control characters (line breaks and tabs among them), marks that turn the direction of writing,
// and what is no UTF-8.
bool is_obeyed(std::string_view text);

// For a terminal: what it would obey is written as an escape, `\x1b` or `\u009b`, but line breaks
// and tabs.
std::string printable(std::string_view text);
// Line breaks and tabs too.
std::string printable_line(std::string_view text);

}  // namespace relay::lang
