#pragma once

#include "lang/expr.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

// The expression again with every node typed, from the tables of an inference that `finish_ground`
// has ended: literals are constants, operator calls have all attributes, binders their extents, and
// `Nil()` is `Nil`. Shared nodes stay shared. `type_params` are what the outermost function
// declares.
lang::Expr rebuild(const lang::Expr& root, Inference& inference,
                   std::vector<lang::TypeVarRef> type_params = {});

}  // namespace relay::typecheck
