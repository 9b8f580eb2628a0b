#include "index/conditions.h"

#include <algorithm>
#include <iterator>

#include "lang/binders.h"
#include "lang/build.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
namespace build = lang::build;

Expr TakenSide::truth() const { return holds ? condition : build::prim(Prim::Not, {condition}); }

Expr TakenSide::kept(const Expr& value) const {
  if (!condition) return value;
  const Expr zero = build::constant(as<lang::TensorType>(value->type)->dtype.known(), 0);
  return build::select(condition, holds ? value : zero, holds ? zero : value);
}

TakenSide without_negation(TakenSide side) {
  while (const auto* negation = as<lang::Primitive>(side.condition)) {
    if (negation->prim != Prim::Not) break;
    const Expr inner = negation->args[0];
    side = {inner, !side.holds};
  }
  return side;
}

std::optional<Junction> junction(const Expr& condition) {
  const auto* node = as<lang::Primitive>(condition);
  if (!node) return std::nullopt;
  const auto is_always = [](const Expr& side, bool value) {
    const auto* constant = as<lang::Constant>(side);
    return constant && (constant->value->bits_at(0) != 0) == value;
  };
  const auto& args = node->args;
  if (node->prim == Prim::And || node->prim == Prim::Or)
    return Junction{node->prim == Prim::And, args[0], args[1]};
  if (node->prim != Prim::Select) return std::nullopt;
  if (is_always(args[1], true)) return Junction{false, args[0], args[2]};
  if (is_always(args[2], false)) return Junction{true, args[0], args[1]};
  return std::nullopt;
}

std::vector<TakenSide> conjuncts(const TakenSide& side) {
  std::vector<TakenSide> sides;
  std::vector<TakenSide> waiting{side};
  while (!waiting.empty()) {
    const TakenSide each = without_negation(waiting.back());
    waiting.pop_back();
    const std::optional<Junction> both = junction(each.condition);
    if (both && both->is_and == each.holds) {
      waiting.push_back({both->b, each.holds});
      waiting.push_back({both->a, each.holds});
    } else {
      sides.push_back(each);
    }
  }
  return sides;
}

namespace {

// Does it divide, or call a function of the mathematical library?
bool may_be_infinite(const Expr& value) {
  bool is_so = false;
  lang::visit_post_order(value, [&](const Expr& node) {
    const auto step = lang::arithmetic_step(node);
    is_so = is_so || (step ? !lang::is_cheap(step->prim) : node->kind == lang::ExprKind::Call);
  });
  return is_so;
}

}  // namespace

Expr kept_at_points(Expr value, const std::vector<TakenSide>& sides,
                    const std::vector<IndexBinder>& binders) {
  if (sides.empty()) return value;
  const std::vector<IndexBinder> points = lang::used_by(value, binders);
  std::vector<IndexBinder> more;  // on which it does not depend
  std::ranges::copy_if(binders, std::back_inserter(more), [&](const IndexBinder& binder) {
    return std::ranges::none_of(
        points, [&](const IndexBinder& each) { return each.variable == binder.variable; });
  });
  std::vector<TakenSide> all;
  for (const TakenSide& side : sides) std::ranges::move(conjuncts(side), std::back_inserter(all));
  Expr others;
  for (auto side = all.rbegin(); side != all.rend(); ++side) {
    if (lang::used_by(side->condition, more).empty()) {
      value = side->kept(value);
    } else {
      others = both(others, side->truth());
    }
  }
  if (!others || !may_be_infinite(value)) return value;
  for (const IndexBinder& each : lang::used_by(others, binders)) {
    if (!lang::used_by(each.extent, binders).empty()) return value;
  }
  const Expr any = lang::rename_bound(
      lang::make_reduction(lang::ReduceOp::Any, lang::used_by(others, more), others));
  return TakenSide{any}.kept(value);
}

Expr both(const Expr& so_far, const Expr& condition) {
  return so_far ? build::prim(Prim::And, {so_far, condition}) : condition;
}

Expr is_between(const Expr& index, const Expr& extent) {
  return both(build::prim(Prim::Ge, {index, build::index_constant(0)}),
              build::prim(Prim::Lt, {index, extent}));
}

}  // namespace relay::index
