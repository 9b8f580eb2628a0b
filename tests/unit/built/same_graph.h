#pragma once

#include <string>

#include "lang/expr.h"

namespace relay::tests {

// How two expressions differ, in words; empty if they are the same graph: nodes, variables and
// tensors are shared alike, and types, places, attributes and all else agree. Shares no code with
// what writes and reads.
std::string difference(const lang::Expr& a, const lang::Expr& b);

}  // namespace relay::tests
