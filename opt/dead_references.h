#pragma once

#include <cstdint>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::opt {

// What else goes where nobody uses it.
enum class Unused : std::uint8_t {
  Stays,
  AlsoPure  // what has no effect, cannot fail and comes to an end
};

// Drops what is done with references and nobody can see, of an expression in A-normal form: reads
// whose results are not used; and of references that do not leave the function which makes them
// (neither stored nor handed on nor captured), writes that are not read before the next write, or
// ever. A reference of which nothing is left goes, too.
lang::Expr eliminate_dead_references(const lang::Expr& expr, lang::Program* program = nullptr,
                                     Unused unused = Unused::Stays);

}  // namespace relay::opt
