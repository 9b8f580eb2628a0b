#pragma once

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;

// The literal of `with_tangent(f)`, for the literal of `f`: a function of the tangent of `f`
// itself, the arguments, their tangents and the walk (ad/adjoint_cells), which gives the result and
// its tangent. The same free variables; `self`: the one by which it calls itself, or null. Code is
// derived as for pullbacks (ad/closures).
lang::Expr tangent_literal(lang::Program& program, Pairs& pairs, const lang::Expr& literal,
                           const lang::VariableRef& self);

}  // namespace relay::ad
