#pragma once

#include <optional>
#include <vector>

#include "lang/expr.h"
#include "models/exporter/exporter.h"

namespace relay::models::exporter {

// A function that is a loop: lines, then an `if` of which one branch ends in a call of the function
// itself, and nothing else mentions it.
//
//   fn (i, x) { let …; if done { result } else { let …; step(i + 1, f(x)) } }
struct Exporter::LoopForm {
  lang::Block head;  // the lines in front; its result is the `if`
  lang::Expr condition;
  bool goes_on = false;  // if the condition holds, or if it does not
  lang::Block step;      // its result is the call
  lang::Expr result;
  std::vector<bool> stays;  // of each parameter: it is handed on as it is

  // The values of all parameters: `args`, with these tensors in what changes.
  std::vector<Value> with_state(const std::vector<Value>& args,
                                const std::vector<Value>& state) const;

  // `self` is the function value that is called: a global, or a literal that a variable holds.
  static std::optional<LoopForm> find(const lang::Function& function, const Value& self);
};

}  // namespace relay::models::exporter
