#pragma once

#include <vector>

#include "flow/function.h"

namespace relay::flow {

// Decides the base cases of functions where they are called: of a function that begins with `if`s
// over simple conditions whose branches return at once (`if n < 2 { n } else …`), or with a `match`
// of a parameter that has such an arm (`Leaf => 0`), a call becomes these tests around the call. At
// least half of the calls of a function that calls itself twice end in a base case, and cost no
// more than the test then. After lowering, before flow/ownership. `functions` may call one another
// and themselves. Cost: linear; code grows by a few steps for each call.
void decide_base_cases(const std::vector<Function*>& functions);

}  // namespace relay::flow
