#pragma once

#include "stdlib/ops/families.h"

// Where values of an index tensor point: shared by operators that gather and scatter.
namespace relay::stdlib {

// The value of `indices` at `at` as a position on an axis of that extent: a negative one counts
// from the end, once. It may still be out of range.
Expr position_at(const Expr& indices, const Indices& at, const Expr& extent);

// Along one axis: the place in `data` that element `i` of `indices` names.
Indices element_place(const Expr& data, const Expr& indices, std::size_t axis, const Indices& i);

// By vectors: indices[m, y..] holds coordinate m for y. The place in `data` that row y names, with
// `rest` behind it. The first `batch` coordinates are those of y itself.
struct VectorIndex {
  std::size_t coordinates;  // extent of the first axis of the indices
  std::size_t batch = 0;
};
Indices vector_place(const Expr& data, const Expr& indices, const VectorIndex& by, const Indices& y,
                     const Indices& rest);

}  // namespace relay::stdlib
