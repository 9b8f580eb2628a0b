#pragma once

#include "loops/stages.h"

namespace relay::loops {

// Does it reduce over the few places of a window, under conditions that compare what it runs over
// together with an index around it, as `sum a < 3 { if i + a < n { x[i + a] } else { 0.0 } }` does
// at the border? Written out, term after term, these are conditions of the points around it, which
// have one outcome in most of each row. `reduction` is a Reduce. Cost: linear in its
// body, and where that is small, in each condition.
bool is_bordered_window(const Stages& stages, const Node& reduction);

}  // namespace relay::loops
