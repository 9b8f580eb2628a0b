#include "opt/idle_walks.h"

#include "lang/op.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

lang::Effect walk_effect(const Expr& value) {
  const auto* call = as<lang::Call>(value);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  return op ? op->op->effect : lang::Effect::None;
}

// Do the bindings behind `first`, or the result, name what that binds?
bool is_used(const lang::Block& block, std::size_t first) {
  const lang::VariableRef& variable = block.bindings[first].variable;
  const auto names = [&](const Expr& expr) {
    bool found = false;
    lang::visit_post_order(expr, [&](const Expr& node) {
      const auto* var = as<lang::Var>(node);
      found = found || (var && var->variable == variable);
    });
    return found;
  };
  for (std::size_t i = first + 1; i < block.bindings.size(); ++i) {
    if (names(block.bindings[i].value)) return true;
  }
  return names(block.result);
}

}  // namespace

std::vector<bool> idle_walks(const lang::Block& block, Effects& effects) {
  struct Open {
    std::size_t begin;
    bool acts = false;
  };
  std::vector<Open> open;
  std::vector<bool> idle(block.bindings.size());
  for (std::size_t i = 0; i < block.bindings.size(); ++i) {
    const Expr& value = block.bindings[i].value;
    const lang::Effect effect = walk_effect(value);
    if (effect == lang::Effect::BeginWalk) {
      open.push_back({i});
    } else if (effect == lang::Effect::EndWalk && !open.empty()) {
      const Open walk = open.back();
      open.pop_back();
      // Those that go backwards give `()`.
      const bool has_name = !as<lang::TupleType>(block.bindings[walk.begin].variable->type);
      if (!walk.acts && !(has_name && is_used(block, walk.begin))) {
        idle[walk.begin] = idle[i] = true;
      } else if (!open.empty()) {
        open.back().acts = true;
      }
    } else if (!open.empty() && !open.back().acts) {
      open.back().acts = effects.has_effect(value);
    }
  }
  return idle;
}

}  // namespace relay::opt
