#include "index/table_order.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "lang/binders.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::IndexBinder;

namespace {

constexpr double kFewPoints = 16;

// The variables along which elements are read one after the other.
std::unordered_set<const lang::Variable*> read_along(const Expr& body) {
  std::unordered_set<const lang::Variable*> variables;
  lang::visit_post_order(body, [&](const Expr& node) {
    const auto* read = as<lang::Index>(node);
    const auto* last =
        read && !read->indices.empty() ? as<lang::Var>(read->indices.back()) : nullptr;
    if (last) variables.insert(last->variable.get());
  });
  return variables;
}

}  // namespace

std::vector<std::size_t> table_order(const std::vector<IndexBinder>& binders, const Expr& body) {
  std::vector<std::size_t> order(binders.size());
  std::iota(order.begin(), order.end(), 0);
  const auto points = [&](std::size_t i) { return lang::number_of_points({binders[i]}); };
  const bool is_short = order.size() > 1 && points(order.back()).value_or(kFewPoints) < kFewPoints;
  if (!is_short) return order;
  const auto along = read_along(body);
  const auto is_along = [&](std::size_t i) { return along.contains(binders[i].variable.get()); };
  if (is_along(order.back())) return order;
  const auto longest =
      std::max_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(is_along(a), points(a).value_or(0)) <
               std::pair(is_along(b), points(b).value_or(0));
      });
  if (points(*longest).value_or(0) >= kFewPoints) std::rotate(longest, longest + 1, order.end());
  return order;
}

}  // namespace relay::index
