#pragma once

#include <cstdint>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;

// The literal of `with_tangent(f)`, for the literal of `f`: a function of the tangent of `f`
// itself, the arguments and their tangents, which gives the result and its tangent. The same free
// variables; `self`: the one by which it calls itself, or null. Code is derived as for pullbacks
// (ad/closures). `walk`: that of the tangents of references (ad/adjoint_cells.h).
lang::Expr tangent_literal(lang::Program& program, Pairs& pairs, const lang::Expr& literal,
                           const lang::VariableRef& self, std::int64_t walk);

}  // namespace relay::ad
