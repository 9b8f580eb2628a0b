#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lang/expr.h"
#include "lang/module.h"
#include "opt/passes.h"

namespace relay::opt {

// How far the partial evaluator goes. Whatever it is given, it ends, and its result is at most a
// constant times `max_size` larger than the function.
struct PartialEvalOptions {
  std::int64_t fuel = 10000;     // calls that are evaluated, in all
  std::int64_t max_size = 8192;  // nodes of code that calls may add
};

// What it needs of who runs it.
struct PartialEvalHost {
  lang::Program& program;
  const Evaluate& evaluate;  // null where there is no constant: then the call stays
  const EvaluatePrimitive& evaluate_primitive;
  // Derivative forms of known functions are replaced by what they stand for: in functions that are
  // called before anything is run, as in those at hand.
  std::function<lang::Expr(const lang::Expr& fn)> without_derivatives;
};

// Runs a typed function in A-normal form as far as it goes while its parameters are unknown, and
// gives what is left to do. Tuples, data, functions and references are known by their parts, so
// that matches, conditions, calls and reads of what is known are gone. Nothing is computed twice;
// effects, errors and calls that may not end stay, and in their order.
//
// A call of a known function is evaluated in place. One that comes back to a function that is being
// evaluated is so only while something falls at each call (opt/partial_eval_fuel.h), and stays a
// call otherwise.
// `name`: the function's own; empty: it has none.
lang::Expr partially_evaluate(const lang::Expr& function, const std::string& name,
                              const PartialEvalHost& host, const PartialEvalOptions& options = {});

}  // namespace relay::opt
