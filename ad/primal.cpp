#include "ad/primal.h"

#include "ad/reduce_adjoint.h"
#include "index/any_point.h"
#include "index/binder_use.h"
#include "index/table_order.h"
#include "lang/binders.h"
#include "lang/build.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::IndexBinder;
namespace build = lang::build;

bool is_read(const Expr& expr) {
  return lang::is_leaf(expr) || expr->kind == lang::ExprKind::Index;
}

bool is_short(const lang::Reduction& reduction) {
  const std::optional<double> points = lang::number_of_points(reduction.binders);
  if (!points || *points > index::kShortReduction) return false;
  bool has_inner = false;
  lang::visit_post_order(reduction.body, [&](const Expr& node) {
    has_inner = has_inner || node->kind == lang::ExprKind::Reduction;
  });
  return !has_inner;
}

void Primal::add_binders(const std::vector<IndexBinder>& binders) {
  binders_.insert(binders_.end(), binders.begin(), binders.end());
}

Expr Primal::once(const std::string& name, const Expr& expr) {
  const std::vector<IndexBinder> needed = lang::used_by(expr, binders_);
  for (const IndexBinder& binder : needed) {
    if (!lang::used_by(binder.extent, binders_).empty()) return nullptr;
  }
  std::vector<IndexBinder> domain;
  for (const std::size_t place : index::table_order(needed, expr)) domain.push_back(needed[place]);
  return build::at(tabulated(name, domain, expr, code_), uses_of(domain));
}

Expr Primal::where_needed(const Expr& node, const Expr& value) {
  if (is_read(value)) return value;
  if (!needed_) needed_.emplace(form_);
  std::vector<index::TakenSide> sides = needed_->sides(node);
  for (index::TakenSide& side : sides) side.condition = rewrite(side.condition);
  return index::kept_at_points(value, sides, binders_);
}

Expr Primal::pre(const Expr& expr) {
  const auto* reduction = as<lang::Reduction>(expr);
  if (!reduction) return nullptr;
  // A copy may come to be under the binders of that very reduction.
  if (is_short(*reduction)) return lang::rename_bound(expr);
  const auto [place, is_new] = tables_.try_emplace(expr.get());
  Expr& table = place->second;  // stays where it is when conditions get tables, too
  if (is_new) table = once("values", where_needed(expr, expr));
  return table ? table : lang::rename_bound(expr);
}

}  // namespace relay::ad
