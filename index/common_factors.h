#pragma once

#include "lang/expr.h"

namespace relay::index {

// Index notation in which quotients by what is the same at many points are products with its
// reciprocal, and factors that depend on fewer indices meet first: `a[i, k] * a[j, k] / (d * d)` is
// `a[i, k] * (1 / (d * d)) * a[j, k]`. Sums over points then come before such factors where it is
// transposed (ad/transpose). Values may differ in the last bits. Cost: linear.
lang::Expr with_common_factors(const lang::Expr& form);

}  // namespace relay::index
