#pragma once

#include "lang/expr.h"

namespace relay::index {

// The code with equal reads, `x[i]` here and there, as one node, and equal conditions: what is
// found out or done once for a node is so for all of them. Cost: linear, where few have equal
// hashes.
lang::Expr with_shared_nodes(const lang::Expr& code);

}  // namespace relay::index
