#pragma once

#include <vector>

#include "flow/function.h"

namespace relay::flow {

// Makes loops of functions that combine what a call of themselves gives with a number, exactly and
// in any order: `1 + length(t)`, `n * factorial(n - 1)` of integers. The call becomes a tail call,
// and the number goes into what the function gives in the end. Only of functions with one such
// call, so that errors tell where it was. After lowering, before flow/base_cases. Cost: linear.
void accumulate_calls(const std::vector<Function*>& functions);

}  // namespace relay::flow
