#pragma once

#include "lang/expr.h"

namespace relay::ad {

// Code that is computed again for a derivative must give the same. What stands between
// `begin_replay` and `end_replay` is stopped where it would not: it may use references that it
// makes, and read others that have not been written since the time given, when it was computed
// first; it may not write them, nor add to their adjoints.
lang::Expr reference_time();  // int64
lang::Expr begin_replay(const lang::Expr& since);
lang::Expr end_replay();

}  // namespace relay::ad
