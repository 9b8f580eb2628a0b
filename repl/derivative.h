#pragma once

#include <string>

#include "lang/derivative.h"
#include "lang/expr.h"
#include "repl/pipeline.h"

namespace relay::repl {

// The function meant by `expr` (as parsed): a call means its callee at the types of the call; of a
// generic function the plainest instance, float32 tensors of the least ranks that it takes where it
// says nothing, and dimensions by name. Typed, `mode` of it, not differentiated yet. Throws
// Failure.
lang::Expr derivative_of(const lang::Expr& expr, lang::DiffMode mode, typecheck::Checker& checker);

// A function value typed at the plainest of its types, as above. Throws Failure.
lang::Expr at_plainest_types(const lang::Expr& function, typecheck::Checker& checker);

// `mode` of the function meant by `expr`, differentiated and simplified, as a text of its own:
// first the data types and functions that differentiation made for it, under readable names.
// `is_strict`: strict Relay, with everything that the text needs.
std::string print_derivative(const lang::Expr& expr, lang::DiffMode mode, bool is_strict,
                             lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline);

}  // namespace relay::repl
