#pragma once

#include "lang/expr.h"

namespace relay::ad {

// Index notation with its `let`s substituted, operators that give scalars expanded (those stay that
// have a gradient of their own and do more than read elements, or none at all), and `if` on scalars
// as `select`, where what the branch not taken must not compute is made harmless: its checked reads
// go to element 0 (of a tensor that has none they are 0: what may fail has failed in the primal),
// its integer divisions divide by 1.
lang::Expr scalar_form(const lang::Expr& expr);

// Has this tensor type an axis that is known to be empty?
bool has_no_elements(const lang::Type& type);

// Is this scalar form nothing but arithmetic on elements: can it be transposed?
bool is_arithmetic(const lang::Expr& form);

}  // namespace relay::ad
