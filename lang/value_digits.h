#pragma once

#include <string>

#include "lang/value.h"

namespace relay::lang {

// As to_string, and every float in it has that many decimals.
std::string to_string_with_digits(const Value& value, int digits);

}  // namespace relay::lang
