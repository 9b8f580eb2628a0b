#pragma once

#include "interp/code.h"
#include "lang/expr.h"

namespace relay::interp {

// The source of a function as one without captures: what it captures are further parameters, in
// order, and a function that calls itself by its own name is defined inside, as it is where it is
// made:
//   fn (n, x, w) { let go = fn (n, x) { … go(n - 1, x * w) … }; go(n, x) }
lang::Expr closed_source(const FunctionCode& code);

}  // namespace relay::interp
