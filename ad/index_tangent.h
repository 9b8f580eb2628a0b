#pragma once

#include <functional>
#include <vector>

#include "ad/adjoint.h"
#include "lang/expr.h"

namespace relay::ad {

// The tangent of a scalar form that is arithmetic (index/scalar_form), for each field of a
// comprehension over a tuple; null: zero. `out`, an atom, is the value of the form; `tangent_of`
// gives the tangent of a variable, null for zero. The tangent of a comprehension is a
// comprehension, and so on. What would be computed again and again is emitted to `code` first.
std::vector<lang::Expr> tangents_of_arithmetic(
    const lang::Expr& form, const lang::Expr& out,
    const std::function<lang::Expr(const lang::VariableRef&)>& tangent_of, Emitter& code);

}  // namespace relay::ad
