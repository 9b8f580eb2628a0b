#pragma once

#include <cstdint>

#include "lang/tensor.h"
#include "loops/lower.h"

namespace relay::interp {

// The tensor primitive `Order`: for each row of `keys` (row-major), the positions of its elements
// from small to large, NaN last; equal elements keep their order. O(n log n) for each row; rows are
// spread over `threads` threads.
void order_rows(const loops::Launch::Whole& order, const lang::Tensor& keys,
                std::int64_t* positions, int threads);

}  // namespace relay::interp
