#pragma once

#include <cstddef>
#include <string>

#include "lang/value.h"

namespace relay::repl {

inline constexpr std::size_t kValueLine = 44;  // characters, of a value on a line

// A value that fits on a line with others: as it prints, or what can be said of it.
std::string value_line(const lang::Value& value);

}  // namespace relay::repl
