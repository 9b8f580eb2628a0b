#pragma once

#include <vector>

#include "flow/function.h"

namespace relay::flow {

// Writes into lowered functions who owns each object: every slot is given back exactly once, on
// every way out, at its last use or before. Parameters are the callee's, and gone before a tail
// call; tensors that a function only reads stay the caller's (Ullrich and de Moura, "Counting
// Immutable Beans", IFL 2019, section 5.2). So does data of a function that makes no cells, with
// all that is read out of it: looking something up counts nothing. Of one that does make cells the
// data is given back on the way, for the cells that are made. A cell that is matched for the last
// time hands its fields on. `functions` are those that call one another and have no native code
// yet, with their local functions. Cost: linear, times the number of rounds until it is settled who
// borrows.
void settle_ownership(const std::vector<Function*>& functions);

}  // namespace relay::flow
