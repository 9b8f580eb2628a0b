#pragma once

#include <optional>
#include <vector>

#include "lang/expr.h"

// The binders of index notation, and the points that they run over.
namespace relay::lang {

// Those of a comprehension, a reduction or a scatter; null for another node.
const std::vector<IndexBinder>* binders_of(const ExprNode* node);
inline const std::vector<IndexBinder>* binders_of(const Expr& node) {
  return binders_of(node.get());
}

// A use of each binder's variable.
std::vector<Expr> uses_of(const std::vector<IndexBinder>& binders);

// Those that the expression depends on, in their order.
std::vector<IndexBinder> used_by(const Expr& expr, const std::vector<IndexBinder>& binders);

// Do these bind the same variables?
bool are_same_points(const std::vector<IndexBinder>& a, const std::vector<IndexBinder>& b);

// How many points there are; nothing where an extent is not known.
std::optional<double> number_of_points(const std::vector<IndexBinder>& binders);

}  // namespace relay::lang
