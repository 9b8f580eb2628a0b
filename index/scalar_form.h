#pragma once

#include <cstdint>

#include "lang/expr.h"

namespace relay::index {

// Has what is differentiated been computed where the derivative is? Where nothing needs its value,
// it may not run, and the derivative is what fails for it.
enum class PrimalCode : std::uint8_t { MayRun, HasRun };

// Index notation with its `let`s substituted, operators that give scalars expanded (those stay that
// have a gradient of their own and do more than read elements, or none at all), and `if` on scalars
// as `select`, where what the branch not taken must not compute is made harmless: its checked reads
// go to element 0 (of a tensor that has none they are 0: what may fail has failed in the primal),
// its integer divisions divide by 1. Where the primal has run, an index that is the same at all
// points goes there only where it is outside of its axis, so that what is read there stays the same
// at all points.
lang::Expr scalar_form(const lang::Expr& expr, PrimalCode primal = PrimalCode::MayRun);

// Has this tensor type an axis that is known to be empty?
bool has_no_elements(const lang::Type& type);

// Is this scalar form nothing but arithmetic on elements: can it be transposed?
bool is_arithmetic(const lang::Expr& form);

}  // namespace relay::index
