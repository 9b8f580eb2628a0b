#pragma once

#include <cstdint>

#include "lang/expr.h"
#include "lang/module.h"

// Private to the passes whose result is a graph.
namespace relay::opt {

// Which bindings keep their `let` although nothing but their place asks for it.
enum class KeepLets : std::uint8_t {
  OfRepeatedCode,  // those that functions and index notation further inside use: these may run
                   // often
  OfInnerScopes,   // also those that branches use
};
// Puts nodes in the place of the variables of `let`s whose values have no effect: a node that is
// used in several places is one node. Functions that call themselves keep their `let`.
lang::Expr without_lets(const lang::Expr& expr, KeepLets keep, lang::Program* program);

}  // namespace relay::opt
