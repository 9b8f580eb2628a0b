#pragma once

#include "lang/expr.h"

namespace relay::index {

// The definition of an operator at one application as a straight-line block: every argument of a
// call, field of a tuple and operand of a projection is an atom, and a shared part is named once.
// Index notation stays as it is. Needs: typed, no functions and no control flow outside of index
// notation.
lang::Block flatten(const lang::Expr& definition);

}  // namespace relay::index
