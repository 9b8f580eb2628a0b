#pragma once

#include <string>
#include <vector>

#include "lang/expr.h"
#include "repl/pipeline.h"

namespace relay::repl {

// The stages that can be shown, in the order in which a program passes them.
const std::vector<std::string>& show_stages();

// `expr` (as parsed) with its types; a function by its name as the function, a generic one at the
// plainest of its types (repl/derivative.h). Throws Failure.
lang::Expr typed_for_showing(const lang::Expr& expr, lang::Module& module,
                             typecheck::Checker& checker);

// The text of `expr` (as parsed) after `stage`. A function by its name shows the function's body; a
// call shows the calling expression, with what was inlined into it. Throws Failure.
std::string show_stage(const std::string& stage, const lang::Expr& expr, lang::Module& module,
                       typecheck::Checker& checker, Pipeline& pipeline);

}  // namespace relay::repl
