#pragma once

#include <vector>

#include "ad/adjoint.h"
#include "ad/contribution.h"
#include "lang/expr.h"

namespace relay::ad {

// Transposition of index notation: what `form`, a scalar form that is arithmetic (a comprehension,
// reduction, scatter, primitive or index expression), gives to the adjoints of the float variables
// that it reads. `adjoints` are those of its result, or of the fields of a tuple; null for zero.
// Tensors that this takes go to `code`. Throws Failure.
std::vector<Contribution> transpose(const lang::Expr& form, const std::vector<lang::Expr>& adjoints,
                                    Emitter& code);

}  // namespace relay::ad
