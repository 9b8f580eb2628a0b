#pragma once

#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// What reads inside index notation give to the adjoint of the variable that they read: at each
// point of `domain`, the scalar `value` for its element [indices]. Without indices and domain,
// `value` is an adjoint of the whole variable, of its tangent type. Where there is a guard, a bool,
// and it is false, the value is 0, and the indices may be any.
struct Contribution {
  lang::VariableRef variable;
  std::vector<lang::Expr> indices;
  lang::Expr value;
  std::vector<lang::IndexBinder> domain;
  lang::Span span;
  lang::Expr guard = nullptr;

  bool is_whole() const { return indices.empty() && domain.empty(); }
};

// The same without a guard: where that is false, it is for element 0, which must exist.
Contribution without_guard(Contribution contribution);

// Adds `contribution` to one of the same elements over the same domain, or behind the others.
void add_to(std::vector<Contribution>& contributions, Contribution contribution);

// The value whose negative this is, or this value: `x[i] - x[j]` gives one to the other's adjoint.
struct Signed {
  lang::Expr value;
  bool is_negative;
};
Signed without_sign(const lang::Expr& value);

}  // namespace relay::ad
