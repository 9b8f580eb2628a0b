#pragma once

#include <utility>
#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// Transposition of index notation: the contributions of `node` (a comprehension, reduction, scatter
// or index expression with scalar bodies over primitives and indexing) with result adjoint
// `adjoint` to the adjoints of the float variables it reads. Where a read's index map inverts
// (distinct binders), the contribution is again a comprehension (a gather), with sums over the
// binders that do not occur; where not, it is a scatter. Throws Failure(NotDifferentiable).
std::vector<std::pair<lang::VariableRef, lang::Expr>> transpose(const lang::Expr& node,
                                                                const lang::Expr& adjoint);

}  // namespace relay::ad
