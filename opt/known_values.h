#pragma once

#include <optional>
#include <vector>

#include "lang/expr.h"
#include "lang/pointer_map.h"

// Private to the passes that take matches on known data.
namespace relay::opt {

// Is it an `if` or a `match`?
bool is_branch(const lang::Expr& expr);

// A constructor and the atoms that it was given.
struct Construction {
  const lang::Constructor* constructor;
  std::vector<lang::Expr> fields;
};

// What the variables of some code stand for.
class KnownValues {
 public:
  // All that is bound in it. New code may bind the variables of the old to other values, and has to
  // be learned, too.
  void learn(const lang::Expr& code);
  // The value behind an atom, seen through variables that stand for variables; the last atom where
  // nothing is known.
  const lang::Expr& of(const lang::Expr& atom) const;
  // Nothing where it is not known which constructor made it.
  std::optional<Construction> construction(const lang::Expr& atom) const;

 private:
  lang::PointerMap<lang::Variable, lang::Expr> values_;
};

}  // namespace relay::opt
