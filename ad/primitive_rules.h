#pragma once

#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// Partial derivatives of a scalar primitive of float operands, times the adjoint `a` of its result:
// one expression per operand, null where the partial is zero everywhere it exists. Subgradients at
// kinks: abs, sign, min, max and select follow docs/derivatives.md. Throws
// Failure(NotDifferentiable) for what has no derivative.
std::vector<lang::Expr> primitive_adjoints(const lang::Primitive& node, const lang::Expr& out,
                                           const lang::Expr& a);

}  // namespace relay::ad
