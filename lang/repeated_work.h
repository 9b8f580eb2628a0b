#pragma once

#include <vector>

#include "lang/obstacle.h"

namespace relay::lang {

// Calls of functions and work on tensors in the bodies of index notation that depend on no index of
// it, and stay there all the same: each is computed again at each point. The reasons say why, for
// people. `nest` is typed A-normal form that has been optimised. Cost: linear in its size, times
// the depth of index notation in it.
std::vector<Obstacle> repeated_work(const Expr& nest);

}  // namespace relay::lang
