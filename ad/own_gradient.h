#pragma once

#include <string>
#include <vector>

#include "ad/jvps.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;

// The name of the function that has this gradient.
std::string owner_of_gradient(const std::string& gradient);

// A call of a function of that type, which has this gradient.
struct OwnCall {
  const std::string& gradient;
  const lang::FunctionType& type;
  std::vector<lang::Expr> args;
  lang::Expr result;
};
// The adjoints of its arguments, where `dy` is that of the result. A gradient with one parameter
// more takes the result, too.
lang::Expr call_own_gradient(OwnCall call, const lang::Expr& dy, lang::Program& program,
                             lang::Span span);

// An argument is, or holds, a function that has captured what there is to be differentiated by: a
// gradient says nothing of that. `arg` may be null. Throws Failure(Unsupported).
[[noreturn]] void refuse_capture(const std::string& gradient, const lang::Expr& arg,
                                 lang::Span span, const std::string& note = {});

// The same for what a reference holds. In a function that is prepared for differentiation: throws
// Failure(Unsupported) where what may hold a reference with an adjoint, itself or captured by a
// function in it, is handed to a function with a gradient of its own.
void refuse_captured_references(const lang::Expr& function, lang::Program& program, Pairs& pairs);

// The derivative in forward mode (ad/jvps.h) of a function that has a gradient of its own, so that
// both modes say the same. The gradient is a linear function of the adjoint `dy`; its transpose at
// the tangents of the arguments is the tangent of the result. Where it is not linear, that is its
// derivative at an adjoint of zero.
lang::Expr jvp_of_own_gradient(const std::string& name, const lang::Type& type,
                               const std::string& gradient, const Activity& active,
                               lang::Program& program, Pairs& pairs);

}  // namespace relay::ad
