#include "ad/counters.h"

#include <algorithm>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Prim;
namespace build = lang::build;

Counters::Counters(const lang::Function& function, const std::vector<const lang::Call*>& calls,
                   const std::vector<bool>& is_kept)
    : params_(function.params), is_kept_(is_kept) {
  lang::visit_post_order(function.body, [&](const Expr& node) {
    if (const auto* let = as<lang::Let>(node)) values_[let->variable.get()] = let->value;
  });
  for (std::size_t i = 0; i < params_.size(); ++i) {
    // Integers wrap around, so that what is added can be taken away again.
    are_counters_.push_back(!is_kept_[i] && lang::is_integer_scalar(params_[i]->type) &&
                            std::all_of(calls.begin(), calls.end(), [&](const lang::Call* call) {
                              return move(*call, i).is_known;
                            }));
  }
}

bool Counters::stays(const Expr& amount) const {
  if (amount->kind == lang::ExprKind::Constant) return true;
  const auto* var = as<lang::Var>(amount);
  if (!var) return false;
  const auto found = std::find(params_.begin(), params_.end(), var->variable);
  return found != params_.end() && is_kept_[static_cast<std::size_t>(found - params_.begin())];
}

Counters::Move Counters::move(const lang::Call& call, std::size_t param) const {
  const auto is_param = [&](const Expr& expr) {
    const auto* var = as<lang::Var>(expr);
    return var && var->variable == params_[param];
  };
  const Expr& next = call.args[param];
  if (is_param(next)) return {true, false, {}};
  const auto* var = as<lang::Var>(next);
  const auto found = var ? values_.find(var->variable.get()) : values_.end();
  const auto step = lang::arithmetic_step(found == values_.end() ? next : found->second);
  if (!step || step->args.size() != 2) return {};
  const Expr& a = step->args[0];
  const Expr& b = step->args[1];
  if (step->prim == Prim::Add && is_param(a) && stays(b)) return {true, false, b};
  if (step->prim == Prim::Add && is_param(b) && stays(a)) return {true, false, a};
  if (step->prim == Prim::Sub && is_param(a) && stays(b)) return {true, true, b};
  return {};
}

Expr Counters::before(const lang::Call& call, std::size_t param, const Expr& after) const {
  const Move step = move(call, param);
  if (!step.by) return after;
  return step.is_back ? build::add(after, step.by) : build::sub(after, step.by);
}

}  // namespace relay::ad
