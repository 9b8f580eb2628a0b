#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lang/expr.h"

// Private to the analyses that look at which values are made of which.
namespace relay::opt {

// The values of a function, each behind those that it is made of; the last one is the result. What
// is inside of another function, or of index notation, is part of that one value.
struct Dataflow {
  struct Value {
    std::string name;   // that a `let` gives it, or a number
    std::string maker;  // the operator, or what else makes it
    std::vector<std::string> operands;
    std::vector<std::size_t> reads;  // other values; parameters and constants are none
  };
  std::vector<Value> values;
};
Dataflow dataflow_of(const lang::Expr& function);

// Of each value the nearest one behind it that all of its uses go through: its post-dominator, by
// which fusion decides. Of the result, and of what nobody uses, itself.
std::vector<std::size_t> post_dominators(const Dataflow& dataflow);

}  // namespace relay::opt
