#pragma once

#include <string>

#include "interp/code.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::interp {

// Prepares a closed typed ANF Function for evaluation. Throws Failure (Unsupported) for what the
// evaluator cannot run.
FunctionCodeRef prepare_function(const std::string& name, const lang::Expr& function);

// The same for a literal whose free variables are among `captured`, which is the order of the
// captures of closures that have this code.
FunctionCodeRef prepare_closure(const std::string& name, const lang::Expr& function,
                                const std::vector<lang::VariableRef>& captured);

// An operator or a constructor as a function value: fn (x, y) { op(x, y) }.
lang::Value operator_value(const lang::Expr& atom);
lang::Value constructor_closure(const lang::Constructor* constructor);

}  // namespace relay::interp
