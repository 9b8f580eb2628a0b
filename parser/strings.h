#pragma once

#include <string>
#include <string_view>

namespace relay::parser {

// What a string stands for, given as written, with its quotes. Light strings have the escapes
// `\"`, `\\`, `\n` and `\t`, strict ones have none.
std::string read_string(std::string_view quoted, bool strict);

}  // namespace relay::parser
