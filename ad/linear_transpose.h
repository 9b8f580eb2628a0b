#pragma once

#include "ad/pairs.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// fn (dy) { dx }: the transpose of a linear function of tensors. It is the pullback anywhere, here
// at zero. Throws Failure(NotDifferentiable) where the function is seen not to be linear
// (ad/linearity.h), and Failure(Unsupported) where an extent of a parameter is not known.
lang::Expr linear_transpose(const lang::Function& given, lang::Program& program, Pairs& pairs);

}  // namespace relay::ad
