#pragma once

#include <vector>

#include "flow/function.h"

namespace relay::flow {

// Makes tail calls of calls of a function by itself whose result goes straight into a cell, or into
// one in another, that is the function's result: `Cons(h + 1, increased(t))`. The cell is made
// first, and the call fills the place in it: a loop, and no deep stack (tail recursion modulo cons;
// Risch 1973, Leijen and Lorenzen 2023). Only of functions with one such call, so that errors tell
// where it was. After lowering, before flow/base_cases. Cost: linear.
void make_cons_calls(const std::vector<Function*>& functions);

}  // namespace relay::flow
