#pragma once

#include <string>

#include "interp/code.h"
#include "lang/expr.h"

namespace relay::interp {

// Prepares a closed typed ANF Function for evaluation. Throws Failure (Unsupported) for what the
// evaluator cannot run.
FunctionCodeRef prepare_function(const std::string& name, const lang::Expr& function);

}  // namespace relay::interp
