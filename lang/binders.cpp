#include "lang/binders.h"

#include <algorithm>

#include "lang/visit.h"

namespace relay::lang {

const std::vector<IndexBinder>* binders_of(const ExprNode* node) {
  switch (node->kind) {
    case ExprKind::Comprehension:
      return &static_cast<const Comprehension*>(node)->binders;
    case ExprKind::Reduction:
      return &static_cast<const Reduction*>(node)->binders;
    case ExprKind::ScatterReduce:
      return &static_cast<const ScatterReduce*>(node)->binders;
    default:
      return nullptr;
  }
}

std::vector<Expr> uses_of(const std::vector<IndexBinder>& binders) {
  std::vector<Expr> uses;
  for (const IndexBinder& binder : binders) uses.push_back(make_var(binder.variable));
  return uses;
}

std::vector<IndexBinder> used_by(const Expr& expr, const std::vector<IndexBinder>& binders) {
  const std::vector<VariableRef> free = free_variables(expr);
  std::vector<IndexBinder> used;
  for (const IndexBinder& binder : binders) {
    if (std::find(free.begin(), free.end(), binder.variable) != free.end()) used.push_back(binder);
  }
  return used;
}

bool are_same_points(const std::vector<IndexBinder>& a, const std::vector<IndexBinder>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const IndexBinder& x, const IndexBinder& y) { return x.variable == y.variable; });
}

std::optional<double> number_of_points(const std::vector<IndexBinder>& binders) {
  double number = 1;
  for (const IndexBinder& binder : binders) {
    const auto* extent = as<Constant>(binder.extent);
    if (!extent) return std::nullopt;
    number *= extent->value->number_at(0);
  }
  return number;
}

}  // namespace relay::lang
