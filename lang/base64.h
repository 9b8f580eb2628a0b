#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relay::lang {

// RFC 4648, with padding and without line breaks.
std::string to_base64(std::span<const std::byte> bytes);
// Nothing if `text` is not such a text.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace relay::lang
