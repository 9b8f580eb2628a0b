#pragma once

#include "lang/expr.h"

namespace relay::lang {

// Each `dot k { (x, y) }` in `expr` as `sum k { x * y }`: the same number, but for rounding, and
// normalised (ANF) where `expr` is. For those who know sums only.
Expr dots_as_sums(const Expr& expr);

}  // namespace relay::lang
