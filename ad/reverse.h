#pragma once

#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Replaces every Differentiate node of a typed ANF expression by the function it stands for,
// innermost first, so derivatives of derivatives work. Functions made on the way (pullbacks of
// known functions, taping and backward loops) are added to `program`. The result is typed but not
// simplified. Errors: NotDifferentiable (naming the operator and the path), Unsupported (a function
// that is not known where grad is taken).
lang::Result<lang::Expr> expand_derivatives(const lang::Expr& expr, lang::Program& program);

// Reverse-mode derivative of a typed ANF function literal: same parameters; result (out, adjoints
// of the parameters), where `out` must be a rank-0 float (its adjoint is seeded with 1). Adjoints:
// for one parameter its adjoint, for several a tuple; integer and boolean leaves zero.
lang::Result<lang::Expr> value_and_gradient(const lang::Function& fn, lang::Program& program);

}  // namespace relay::ad
