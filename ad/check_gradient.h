#pragma once

#include <string>
#include <vector>

#include "lang/expr.h"
#include "lang/op.h"

namespace relay::ad {

// `check_grad(f)` at arguments: a call that compares `gradients` with central differences of
// `function` and gives true, or stops with WrongGradient and the place of the element that differs.
// `names` are those of the parameters, for messages.
lang::Expr check_gradient(const lang::Expr& function, const std::vector<lang::Expr>& args,
                          const std::vector<lang::Expr>& gradients,
                          const std::vector<std::string>& names, lang::Span span);

}  // namespace relay::ad
