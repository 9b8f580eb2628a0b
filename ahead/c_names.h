#pragma once

#include <string>
#include <string_view>

#include "lang/dtype.h"

namespace relay::ahead {

// A name as C can have it: other characters become `_`, and what C has for itself gets one at the
// end.
std::string c_name(std::string_view name);

// "float"; of a type that C has not, such as float16, the unsigned integer as wide.
std::string_view c_type(lang::DType dtype);

}  // namespace relay::ahead
