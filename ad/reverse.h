#pragma once

#include "ad/pairs.h"
#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// The function that the derivative of `given` in that mode is.
lang::Expr derivative(const lang::Function& given, lang::DiffMode mode, lang::Program& program,
                      Pairs& pairs);

// Replaces every Differentiate node of a typed ANF expression by the function it stands for,
// innermost first, so derivatives of derivatives work. Functions made on the way (pullbacks of
// known functions, taping and backward loops) are added to `program`. The result is typed but not
// simplified. Errors: NotDifferentiable (naming the operator and the path), Unsupported (a function
// that is not known where grad is taken).
lang::Result<lang::Expr> expand_derivatives(const lang::Expr& expr, lang::Program& program,
                                            Pairs& pairs);

}  // namespace relay::ad
