#pragma once

#include <cstddef>
#include <unordered_map>

#include "ad/contribution.h"
#include "lang/expr.h"

namespace relay::ad {

// The axis whose extent a variable holds.
struct AxisOf {
  lang::VariableRef tensor;
  std::size_t axis;
};
using Extents = std::unordered_map<const lang::Variable*, AxisOf>;
// Keeps what `dim_of(tensor)` says of the variable that it is bound to.
void note_extent(const lang::Binding& binding, Extents& extents);

// The contribution as an adjoint of the whole variable: what each of its elements is given.
// - Where every index has a binder of its own that runs over about its axis, moved, turned round or
//   with digits (`i`, `i - 1`, `n - 1 - i`, `i + k`, `2 * i + k` with k < 2), the indices are
//   inverted: a gather, which sums over the other binders.
// - Where the others are the same at all points (`a[i, k]` for all i and j), those axes are summed
//   first, and the sums are added at these places.
// - Otherwise each point adds its value at its place.
lang::Expr placed(const Contribution& contribution, const Extents& extents);

}  // namespace relay::ad
