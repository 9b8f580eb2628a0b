#pragma once

#include <vector>

#include "flow/function.h"

namespace relay::flow {

// Writes into lowered functions who owns each object: every slot is given back exactly once, on
// every way out, at its last use or before. Parameters are the callee's, and gone before a tail
// call; tensors that a function only reads stay the caller's (Ullrich and de Moura, "Counting
// Immutable Beans", IFL 2019, section 5.2). A cell that is matched for the last time hands its
// fields on. `functions` are those that call one another and have no native code yet, with their
// local functions. Cost: linear, times the number of rounds until it is settled who borrows.
void settle_ownership(const std::vector<Function*>& functions);

}  // namespace relay::flow
