#pragma once

#include <string>

#include "lang/expr.h"

namespace relay::lang {

// Why index notation is no kernel, for people.
struct Obstacle {
  Span place;
  std::string reason;  // "a call of `f`"
};

// The first part of index notation that is_lowerable() refuses while it accepts what that part is
// made of. `nest` is typed A-normal form, and not lowerable. Cost: linear in its size.
Obstacle kernel_obstacle(const Expr& nest);

}  // namespace relay::lang
