#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parser/borrowed.h"

namespace relay::parser {

// For a character at `at` that a text processor or a person's keyboard puts where we write another:
// `−`, `≤`, `“…”`, or a Greek letter that looks like a Latin one.
std::optional<Edit> other_character(std::string_view text, std::uint32_t at);

// What to say of any other character beyond ASCII with which `rest` begins; empty if it is none.
std::string_view help_for_character(std::string_view rest);

}  // namespace relay::parser
