#pragma once

#include "api/errors.h"
#include "api/value.h"

namespace relay::api {

// As Specialised::numbers has it: 'i', 'f', or 0.
char number_kind(const relay_value& value);
// The type of an argument where a function asks for `wanted`, as much as that is known: of a number
// that dtype, if the number is one of it. An integer is of any dtype of numbers, as in a text.
lang::Type type_at(const relay_value& arg, const lang::Type& wanted);
// The argument as a value of that type.
lang::Value value_at(const relay_value& arg, const lang::Type& type);

}  // namespace relay::api
