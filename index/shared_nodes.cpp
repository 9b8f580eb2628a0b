#include "index/shared_nodes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/alpha_equal.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;

namespace {

bool is_condition(const Expr& expr) {
  const auto* type = as<lang::TensorType>(expr->type);
  return type && lang::is_scalar(expr->type) && type->dtype.is_known() &&
         type->dtype.known() == lang::DType::Bool;
}

class Sharer final : public lang::Rewriter {
  Expr post(const Expr& expr) override {
    if (expr->kind != lang::ExprKind::Index && !is_condition(expr)) return expr;
    const auto step = lang::arithmetic_step(expr);
    return step && std::ranges::all_of(step->args, is_condition) ? of_conditions(expr, *step)
                                                                 : of_values(expr);
  }

  // `a && b`, whose parts are shared: known by these.
  Expr of_conditions(const Expr& expr, const lang::ArithmeticStep& step) {
    Junction key{step.prim, {}};
    for (const Expr& arg : step.args) key.second.push_back(arg.get());
    return junctions_.try_emplace(std::move(key), expr).first->second;
  }

  Expr of_values(const Expr& expr) {
    const std::size_t hash = lang::structural_hash(expr);
    const auto [first, last] = others_.equal_range(hash);
    for (auto each = first; each != last; ++each) {
      if (lang::alpha_equal(each->second, expr)) return each->second;
    }
    others_.emplace(hash, expr);
    return expr;
  }

  using Junction = std::pair<lang::Prim, std::vector<const lang::ExprNode*>>;
  std::map<Junction, Expr> junctions_;
  std::unordered_multimap<std::size_t, Expr> others_;
};

}  // namespace

Expr with_shared_nodes(const Expr& code) { return Sharer().rewrite(code); }

}  // namespace relay::index
