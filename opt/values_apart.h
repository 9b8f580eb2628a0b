#pragma once

#include <unordered_set>

#include "lang/expr.h"

namespace relay::opt {

// The expression with those of its scatters that are in `scatters` apart from what they scatter:
// the places and values of all points first, by index notation that may call anything, then a
// scatter that reads them. Typed, and not in normal form.
lang::Expr with_values_apart(const lang::Expr& expr,
                             const std::unordered_set<const lang::ExprNode*>& scatters);

}  // namespace relay::opt
