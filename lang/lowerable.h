#pragma once

#include "lang/expr.h"

namespace relay::lang {

// Can this typed expression run as kernels: an operator call with a definition whose arguments are
// tensors or tuples of them, or index notation whose bodies consist of primitives, operator calls
// on scalars, indexing of variables, `let`, `if` without bounds checks or integer division in its
// branches, tuples of scalars and nested reductions. The one predicate that normalisation, fusion,
// evaluation and lowering agree on.
bool is_lowerable(const Expr& expr);

}  // namespace relay::lang
