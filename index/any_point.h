#pragma once

#include <vector>

#include "index/conditions.h"
#include "lang/expr.h"

namespace relay::index {

// Whether the sides are taken at any of these points, of which there are some, as a condition that
// does not depend on them; null: always. Of an index that they bound (`j > i`, `i + j < n`) the
// bounds are compared with each other; of others comes an `any`.
lang::Expr at_any_point(const std::vector<TakenSide>& sides,
                        const std::vector<lang::IndexBinder>& points);

// The value where all the sides are taken, 0 elsewhere. Where sides depend on binders on which it
// does not, and it may be infinite: where they are taken for any of these.
lang::Expr kept_at_points(lang::Expr value, const std::vector<TakenSide>& sides,
                          const std::vector<lang::IndexBinder>& binders);

}  // namespace relay::index
