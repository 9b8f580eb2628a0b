#pragma once

#include <vector>

#include "interp/machine.h"

namespace relay::interp {

// Compares `gradients` of `function` at `args` with central differences of the function, each
// element of each float in turn (of large tensors a thousand, evenly spread), in the dtype at hand.
// True if they agree to about the cube root of that dtype's precision, relative to the larger of
// both and 1. Otherwise Empty, with WrongGradient that names the element. `attrs`: `names`, those
// of the parameters. Costs two calls for each element.
lang::Value check_gradient(Machine& machine, const lang::Value& function,
                           std::vector<lang::Value> args, const std::vector<lang::Value>& gradients,
                           const lang::AttrsRef& attrs, lang::Span span);

}  // namespace relay::interp
