#pragma once

#include <string>

#include "lang/expr.h"
#include "lang/module.h"
#include "lang/op.h"

namespace relay::repl {

// The definition of an operator in the light notation, at the types of the first call of it in its
// example; or what it is instead of one. `module`: the names that the example sees. Throws Failure.
std::string operator_source(const lang::OpDef& op, const lang::Module& module);

// A function that calls the operator, at the same types and with the attributes of that call; null
// where the example does not call it.
lang::Expr example_function(const lang::OpDef& op, const lang::Module& module);

}  // namespace relay::repl
