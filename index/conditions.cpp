#include "index/conditions.h"

#include <algorithm>
#include <iterator>

#include "lang/build.h"
#include "lang/op.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::Prim;
namespace build = lang::build;

Expr TakenSide::truth() const { return holds ? condition : build::prim(Prim::Not, {condition}); }

Expr TakenSide::kept(const Expr& value) const {
  if (!condition) return value;
  const Expr zero = build::constant(as<lang::TensorType>(value->type)->dtype.known(), 0);
  return build::select(condition, holds ? value : zero, holds ? zero : value);
}

TakenSide without_negation(TakenSide side) {
  while (const auto step = lang::arithmetic_step(side.condition)) {
    if (step->prim != Prim::Not) break;
    const Expr inner = step->args[0];
    side = {inner, !side.holds};
  }
  return side;
}

std::optional<Junction> junction(const Expr& condition) {
  const auto step = lang::arithmetic_step(condition);
  if (!step) return std::nullopt;
  const auto is_always = [](const Expr& side, bool value) {
    const auto* constant = as<lang::Constant>(side);
    return constant && (constant->value->bits_at(0) != 0) == value;
  };
  const std::vector<Expr>& args = step->args;
  if (step->prim == Prim::And || step->prim == Prim::Or)
    return Junction{step->prim == Prim::And, args[0], args[1]};
  if (step->prim != Prim::Select) return std::nullopt;
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

std::vector<TakenSide> conjuncts_of(const std::vector<TakenSide>& sides) {
  std::vector<TakenSide> all;
  for (const TakenSide& side : sides) std::ranges::move(conjuncts(side), std::back_inserter(all));
  return all;
}

Expr all_of(const std::vector<TakenSide>& sides) {
  Expr all;
  for (const TakenSide& side : sides) all = both(all, side.truth());
  return all;
}

Expr both(const Expr& so_far, const Expr& condition) {
  return so_far ? build::prim(Prim::And, {so_far, condition}) : condition;
}

bool is_int64(const Expr& expr) {
  const auto* type = as<lang::TensorType>(expr->type);
  return type && lang::is_scalar(expr->type) && type->dtype.is_known() &&
         type->dtype.known() == lang::DType::Int64;
}

Expr is_between(const Expr& index, const Expr& extent) {
  return both(build::prim(Prim::Ge, {index, build::index_constant(0)}),
              build::prim(Prim::Lt, {index, extent}));
}

}  // namespace relay::index
