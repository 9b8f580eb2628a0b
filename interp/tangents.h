#pragma once

#include <optional>
#include <string>

#include "interp/machine.h"

// What differentiation asks of values that only running knows (ad/closures).
namespace relay::interp {

// The function that gives the result of `function` and its pullback. Its code is derived once for
// each code. `type`: its own type. Empty after an error.
lang::Value with_pullback(Machine& machine, const lang::Value& function, const lang::Type& type,
                          lang::Span span);

// The function that gives the result of `function` and its tangent, in the same way.
lang::Value with_tangent(Machine& machine, const lang::Value& function, const lang::Type& type,
                         lang::Span span);

// The sum of two tangents of functions: of what the closures captured, part by part. A constructor
// without fields is zero. O(size).
lang::Value add_tangents(const lang::Value& a, const lang::Value& b);

// Why a tangent of data that somebody has given cannot be one of the value that is the other:
// nothing if both have the same constructors everywhere. O(size), any depth.
std::optional<std::string> misfit(const lang::Value& given, const lang::Value& value);

}  // namespace relay::interp
