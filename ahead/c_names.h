#pragma once

#include <string>
#include <string_view>

#include "lang/dtype.h"

namespace relay::ahead {

// The beginning of names in C: a Greek letter becomes its code point, `u03b8`, and other characters
// `_`.
std::string c_prefix(std::string_view name);
// A name as C can have it: the same, and what C or C++ has for itself gets a `_` at the end.
std::string c_name(std::string_view name);

// "float"; of a type that C has not, such as float16, the unsigned integer as wide.
std::string_view c_type(lang::DType dtype);

}  // namespace relay::ahead
