#pragma once

#include "lang/expr.h"
#include "opt/passes.h"

// Private to the pass DynamicToStatic.
namespace relay::opt {

// Calls of operators whose extents are values, as `dyn.reshape`, become those of their static forms
// where the values follow from constants and from extents that types know; what depends on them
// gets the types that follow. What flows into a branch's result, data, or a call of a function
// keeps its open extents, with which others have to agree there. The function's own type stays, and
// so does a function whose code would have no types then: it is certain to fail there. In A-normal
// form.
lang::Expr with_static_extents(const lang::Expr& fn, const Evaluate& evaluate);

}  // namespace relay::opt
