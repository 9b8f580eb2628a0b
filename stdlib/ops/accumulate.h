#pragma once

#include "stdlib/ops/families.h"

// Sums and averages of narrow dtypes: they overflow, or lose what the elements hold, long before
// the result does, so they are computed in a wider dtype and only the result is narrow.
namespace relay::stdlib {

// float32 for the half floats, int64 for integers of fewer bits, else the dtype itself.
DType accumulator_of(DType dtype);
// A scalar, inside index notation, in the accumulator of its dtype.
Expr widened_scalar(const Expr& scalar);
// A tensor in the accumulator of its dtype; itself if that is its own. Dims may be symbolic or `?`.
Expr widened(const Expr& tensor);
// A tensor as one of `dtype`; itself if it is one.
Expr as_dtype(const Expr& tensor, DType dtype);
// `value` over the number of elements along the marked axes of `tensor`, less `less`; for
// gradients.
Expr over_count(const Expr& value, const Expr& tensor, const std::vector<bool>& axes,
                double less = 0);

}  // namespace relay::stdlib
