#pragma once

#include "lang/expr.h"

namespace relay::lang {

// `annotation.stop_fusion(e)` in the core: fn (x, StopFusion=1) { x }, called on the spot. Nothing
// is inlined into it, nor it into anything, outside of index notation, so that operators before and
// behind it make groups of their own; then it goes. A derivative is that of the identity.
Expr make_border(const Expr& expr);
// The same without borders, whose functions may have names by now.
Expr without_borders(const Expr& expr);

}  // namespace relay::lang
