#include "interp/known_extents.h"

#include <utility>
#include <vector>

#include "interp/scalar.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::interp {

using lang::Expr;

std::int64_t extent_at(const lang::Dim& dim, const ExtentOf& extent_of) {
  const lang::Dim known = dim.substitute([&](const lang::TypeVarRef& variable) {
    return std::optional<lang::Dim>(lang::Dim(extent_of(variable->name)));
  });
  return known.is_constant() ? known.constant() : extent_of("?");
}

KnownExtents::KnownExtents(const Expr& code, ExtentOf extent_of)
    : extent_of_(std::move(extent_of)) {
  lang::visit_post_order(code, [&](const Expr& node) {
    if (const auto* let = lang::as<lang::Let>(node))
      values_.emplace(let->variable.get(), let->value);
  });
}

std::optional<std::uint64_t> KnownExtents::bits_of(const Expr& atom) {
  const auto* var = lang::as<lang::Var>(atom);
  if (!var) return computed(atom);
  const lang::Variable* const variable = var->variable.get();
  if (const auto known = known_.find(variable); known != known_.end()) return known->second;
  known_[variable] = std::nullopt;  // while it is looked at: what needs itself is not known
  const auto value = values_.find(variable);
  if (value != values_.end()) known_[variable] = computed(value->second);
  return known_[variable];
}

std::optional<std::uint64_t> KnownExtents::computed(const Expr& expr) {
  if (!lang::is_scalar(expr->type)) return std::nullopt;
  if (const auto* constant = lang::as<lang::Constant>(expr)) return constant->value->bits_at(0);
  if (expr->kind == lang::ExprKind::Var) return bits_of(expr);
  const auto* call = lang::as<lang::Call>(expr);
  const auto* op = call ? lang::as<lang::Operator>(call->callee) : nullptr;
  if (op && op->op->name == "dim_of") {
    const auto* tensor = lang::as<lang::TensorType>(call->args[0]->type);
    if (!tensor || !tensor->shape.has_rank()) return std::nullopt;
    std::int64_t axis = call->attrs->get_int("axis");
    if (axis < 0) axis += static_cast<std::int64_t>(tensor->shape.rank());
    return static_cast<std::uint64_t>(
        extent_at(tensor->shape[static_cast<std::size_t>(axis)], extent_of_));
  }
  const auto step = lang::arithmetic_step(expr);
  if (!step) return std::nullopt;
  std::vector<std::uint64_t> args;
  for (const Expr& arg : step->args) {
    const auto bits = lang::is_scalar(arg->type) ? bits_of(arg) : std::nullopt;
    if (!bits) return std::nullopt;
    args.push_back(*bits);
  }
  const auto dtype_of = [](const Expr& each) {
    return lang::as<lang::TensorType>(each->type)->dtype.known();
  };
  return scalar_value(step->prim, dtype_of(step->args.back()), dtype_of(expr), args.data());
}

}  // namespace relay::interp
