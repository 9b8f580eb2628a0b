#pragma once

#include <vector>

#include "flow/function.h"

namespace relay::flow {

// Finds functions that any thread can run (Function::is_shareable): they count no objects, make
// none, and know nothing of the evaluator. Marks the outermost loops whose points such code
// computes (Step::is_parallel). After flow/ownership. Cost: linear, times the number of rounds
// until it is settled which functions are.
void mark_parallel_loops(const std::vector<Function*>& functions);

}  // namespace relay::flow
