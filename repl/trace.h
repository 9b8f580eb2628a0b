#pragma once

#include <optional>

#include "repl/session.h"

namespace relay::repl {

class Pipeline;

// Runs an expression (as parsed), or `mode` of the function that it calls with its arguments, and
// gives the table, also of a run that fails. Throws Failure for what cannot be run.
Session::Trace traced(const lang::Expr& call, std::optional<lang::DiffMode> mode,
                      lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
                      interp::Evaluator& evaluator);

}  // namespace relay::repl
