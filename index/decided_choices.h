#pragma once

#include <vector>

#include "index/conditions.h"

namespace relay::index {

// Conjuncts without the choices among them (`a || b`) that others decide: none where one of the two
// holds because of these, and the other one where it cannot. Those that are the same condition, or
// compare the same int64 operands, say something of each other. Cost: quadratic in their number.
std::vector<TakenSide> with_choices_decided(std::vector<TakenSide> conjuncts);

}  // namespace relay::index
