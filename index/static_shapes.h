#pragma once

#include "lang/expr.h"

namespace relay::index {

// The same code, but where it needs a free variable only for its shape, and that is of constant
// extents, the shape is written out: the variable need not be kept for it. Cost: linear.
lang::Expr with_static_shapes(const lang::Expr& code);

}  // namespace relay::index
