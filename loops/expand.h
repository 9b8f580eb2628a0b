#pragma once

#include <span>

#include "lang/expr.h"
#include "lang/op.h"
#include "loops/lower.h"
#include "loops/stages.h"

namespace relay::loops {

// The body of `group` at concrete layouts as tensors defined element by element: operators are
// replaced by their definitions, recursively; index notation becomes nodes. Throws Failure.
Stages expand(const lang::Function& group, std::span<const Layout> args);

// An operator's definition for arguments that are typed variables of concrete shape. `known_result`
// is the call's static type (may be null or have dims that are not numbers). Throws Failure where
// the shapes do not fit together.
lang::Expr expand_operator(const lang::Call& call, std::vector<lang::Expr> args,
                           const lang::Type& known_result);

// Are all dims numbers?
bool is_concrete(const lang::Type& type);
}  // namespace relay::loops
