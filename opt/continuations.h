#pragma once

#include <functional>
#include <string>

#include "lang/expr.h"

// Private to the pass ToCPS.
namespace relay::opt {

// A call of a function that takes a continuation: the name of the one that gives `answer`; null for
// a call that stays as it is.
using ContinuedFunction =
    std::function<lang::Expr(const lang::Call& call, const lang::Type& answer)>;

// The calls in a body, in A-normal form, that may have continuations: not those in functions
// inside of it, and in index notation.
void for_each_step_call(const lang::Expr& body,
                        const std::function<void(const lang::Call&)>& visit);

// A copy of `function`, in A-normal form, that takes a continuation behind its arguments, gives its
// result to that, and gives what comes of it, an `answer`.
lang::Expr with_continuation(const lang::Function& function, const lang::Type& answer,
                             const ContinuedFunction& continued);

}  // namespace relay::opt
