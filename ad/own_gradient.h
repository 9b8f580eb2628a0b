#pragma once

#include <string>

#include "ad/jvps.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;

// The derivative in forward mode (ad/jvps.h) of a function that has a gradient of its own, so that
// both modes say the same. The gradient is a linear function of the adjoint `dy`; its transpose at
// the tangents of the arguments is the tangent of the result. Where it is not linear, that is its
// derivative at an adjoint of zero.
lang::Expr jvp_of_own_gradient(const std::string& name, const lang::Type& type,
                               const std::string& gradient, const Activity& active,
                               lang::Program& program, Pairs& pairs);

}  // namespace relay::ad
