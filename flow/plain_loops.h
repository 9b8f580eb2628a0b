#pragma once

#include <vector>

#include "flow/function.h"

namespace relay::flow {

// Marks innermost loops and folds whose bodies do nothing but compute scalars from elements of
// tensors (Step::is_plain), with what has to hold before such a loop so that nothing in it can fail
// (Step::checks). Cost: linear in the functions.
void mark_plain_loops(const std::vector<Function*>& functions);

}  // namespace relay::flow
