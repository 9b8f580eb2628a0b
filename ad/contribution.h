#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// What reads inside index notation give to the adjoint of the variable that they read: at each
// point of `domain`, the scalar `value` for its element [indices]. Without indices and domain,
// `value` is an adjoint of the whole variable, of its tangent type.
struct Contribution {
  lang::VariableRef variable;
  std::vector<lang::Expr> indices;
  lang::Expr value;
  std::vector<lang::IndexBinder> domain;
  lang::Span span;

  bool is_whole() const { return indices.empty() && domain.empty(); }
};

// The axis whose extent a variable holds.
struct AxisOf {
  lang::VariableRef tensor;
  std::size_t axis;
};
using Extents = std::unordered_map<const lang::Variable*, AxisOf>;
// Keeps what `dim_of(tensor)` says of the variable that it is bound to.
void note_extent(const lang::Binding& binding, Extents& extents);

// The contribution as an adjoint of the whole variable. Where the indices invert (they are distinct
// binders, each of which runs over just that axis), a gather, with sums over the binders that do
// not occur in them; else a scatter into zeros.
lang::Expr placed(const Contribution& contribution, const Extents& extents);

// Adds `contribution` to one of the same elements over the same domain, or behind the others.
void add_to(std::vector<Contribution>& contributions, Contribution contribution);

// Do these bind the same variables?
bool are_same_points(const std::vector<lang::IndexBinder>& a,
                     const std::vector<lang::IndexBinder>& b);
// How many points there are; nothing where an extent is not known.
std::optional<double> number_of_points(const std::vector<lang::IndexBinder>& binders);

// The value whose negative this is, or this value: `x[i] - x[j]` gives one to the other's adjoint.
struct Signed {
  lang::Expr value;
  bool is_negative;
};
Signed without_sign(const lang::Expr& value);

// A use of each binder's variable.
std::vector<lang::Expr> uses_of(const std::vector<lang::IndexBinder>& binders);

}  // namespace relay::ad
