#pragma once

#include "lang/primitive.h"

namespace relay::lang {

// Lt, Le, Gt, Ge, Eq or Ne.
bool is_comparison(Prim prim);

// The comparison that holds where this one does not. Not of floats that may be NaN.
Prim negated(Prim comparison);

// The one that says the same with its operands exchanged.
Prim mirrored(Prim comparison);

}  // namespace relay::lang
