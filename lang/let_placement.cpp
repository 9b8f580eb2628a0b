#include "lang/let_placement.h"

#include <algorithm>
#include <vector>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::lang {

void LetPlacement::note(const Expr& node) {
  if (const auto* var = as<Var>(node)) {
    Uses& uses = uses_[var->variable.get()];
    uses.count += plan_.uses(node);
    uses.scope = plan_.scope_of(node);
  }
  note_purity(node);
}

void LetPlacement::note_purity(const Expr& node) {
  bool pure = node->kind != ExprKind::RefCreate && node->kind != ExprKind::RefRead &&
              node->kind != ExprKind::RefWrite;
  if (const auto* call = as<Call>(node)) {
    const auto* op = as<Operator>(call->callee);
    pure = (op && op->op->effect == Effect::None) || call->callee->kind == ExprKind::ConstructorRef;
  }
  if (node->kind != ExprKind::Function) {
    for_each_child(node, [&](const Expr& child) { pure = pure && pure_.contains(child.get()); });
  }
  if (pure) pure_.insert(node.get());
}

void LetPlacement::move(const Let& let) {
  if (!is_pure(let.value)) moved_.insert(let.variable.get());
}

bool LetPlacement::goes_to_its_use(const Let& let, const Piece& value, int scope) const {
  if (const auto* last = as<Var>(let.body); last && last->variable == let.variable) return true;
  if (let.value->kind == ExprKind::Function) return false;
  if (!value.is_one_line() || value.text.size() > kLongestInside) return false;
  const auto uses = uses_.find(let.variable.get());
  if (uses == uses_.end() || uses->second.count != 1) return false;
  // What has an effect may go to where it comes next anyway.
  if (!is_pure(let.value) && !comes_next(let)) return false;
  // A loop or a choice that has a name is easier to read than one inside something else.
  if (value.level == kBlock && let.variable->span && let.body->kind == ExprKind::Let) return false;
  // Not into a function or loop, where it would be computed anew each time.
  for (int at = uses->second.scope; at != scope; at = plan_.parent(at)) {
    const ScopePlan::ScopeKind kind = plan_.kind(at);
    if (at < scope || kind == ScopePlan::ScopeKind::Function || kind == ScopePlan::ScopeKind::Loop)
      return false;
  }
  return true;
}

bool LetPlacement::is_pure(const Expr& value) const {
  if (!pure_.contains(value.get())) return false;
  if (moved_.empty()) return true;
  const std::vector<VariableRef> used = free_variables(value);
  return std::none_of(used.begin(), used.end(), [this](const VariableRef& variable) {
    return moved_.contains(variable.get());
  });
}

bool LetPlacement::comes_next(const Let& let) const {
  const auto* next = as<Let>(let.body);
  const Expr& value = next ? next->value : let.body;
  if (!is_pure(value) || build::is_atom(value)) return false;
  bool is_there = false;
  for (const Expr& operand : operands_of(value)) {
    const auto* var = as<Var>(operand);
    is_there = is_there || (var && var->variable == let.variable);
  }
  return is_there;
}

}  // namespace relay::lang
