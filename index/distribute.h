#pragma once

#include <optional>
#include <vector>

#include "lang/expr.h"

namespace relay::index {

// The body of index notation, step by step over all its points: `for i { let a = f(x[i]); g(a) }`
// as `let a = for i { f(x[i]) }; for i { g(a[i]) }`, each of which runs as a kernel, and of which
// sums over points become products of matrices and the like.
struct Distributed {
  std::vector<lang::Binding> code;
  std::vector<lang::Expr> values;  // variables of shape (extents of the binders..., own shape...)
};

// Of `code` and `values` at one point of `binders`. Nothing where a step is more than arithmetic
// and operators with definitions, or an extent is not known.
std::optional<Distributed> distributed(const std::vector<lang::IndexBinder>& binders,
                                       const std::vector<lang::Binding>& code,
                                       const std::vector<lang::Expr>& values);

// The sum of that value over the points. Where nothing else reads the value, it is not made: a sum
// of products over the points is a product of matrices.
lang::Expr summed_over_points(Distributed& points, std::size_t number,
                              const std::vector<lang::IndexBinder>& binders);

}  // namespace relay::index
