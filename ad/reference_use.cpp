#include "ad/reference_use.h"

#include <unordered_set>

#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

// The function literals of an expression that have names.
std::unordered_map<const lang::Variable*, Expr> named_functions(const Expr& expr) {
  std::unordered_map<const lang::Variable*, Expr> functions;
  lang::visit_post_order(expr, [&](const Expr& node) {
    const auto* let = as<lang::Let>(node);
    if (let && let->value->kind == ExprKind::Function)
      functions.emplace(let->variable.get(), let->value);
  });
  return functions;
}

}  // namespace

bool ReferenceUse::in(const Expr& expr) { return reaches_use(steps_of(expr)); }

bool ReferenceUse::in_global(const std::string& name, const lang::Type& type) {
  Steps steps;
  steps.callees.push_back({name, type});
  return reaches_use(std::move(steps));
}

ReferenceUse::Steps ReferenceUse::steps_of(const Expr& expr) {
  const auto functions = named_functions(expr);
  Steps steps;
  std::unordered_set<const lang::ExprNode*> seen;
  std::vector<Expr> open = {expr};
  const auto visit = [&](const Expr& node) {
    if (seen.insert(node.get()).second) open.push_back(node);
  };
  while (!open.empty() && !steps.uses) {
    const Expr node = std::move(open.back());
    open.pop_back();
    if (node->kind == ExprKind::Function) continue;
    lang::for_each_child(node, visit);
    const auto* call = as<lang::Call>(node);
    if (!call) {
      look_at(node, steps);
      continue;
    }
    const auto* var = as<lang::Var>(call->callee);
    const auto known = var ? functions.find(var->variable.get()) : functions.end();
    if (known != functions.end()) {
      visit(lang::cast<lang::Function>(known->second).body);
    } else if (const auto* literal = as<lang::Function>(call->callee)) {
      visit(literal->body);
    } else {
      look_at_call(*call, steps);
    }
  }
  return steps;
}

void ReferenceUse::look_at(const Expr& node, Steps& steps) {
  lang::Type reference;
  if (node->kind == ExprKind::RefCreate) reference = node->type;
  if (const auto* read = as<lang::RefRead>(node)) reference = read->ref->type;
  if (const auto* write = as<lang::RefWrite>(node)) reference = write->ref->type;
  if (reference && cells_.has_adjoint(reference)) steps.uses = true;
}

void ReferenceUse::look_at_call(const lang::Call& call, Steps& steps) {
  if (call.callee->kind == ExprKind::Operator || call.callee->kind == ExprKind::ConstructorRef)
    return;
  if (const auto* global = growing_.known_callee(call.callee)) {
    steps.callees.push_back({global->name, global->type});
  } else {
    steps.uses = true;
  }
}

ReferenceUse::Global& ReferenceUse::global(const std::string& key, const Callee& callee) {
  if (const auto found = globals_.find(key); found != globals_.end()) return found->second;
  const Expr function = program_.function(callee.name, callee.type);
  const auto& literal = lang::cast<lang::Function>(function);
  // What a gradient of one's own says holds for the call.
  if (lang::gradient_of(literal)) return globals_.emplace(key, Global()).first->second;
  const Expr prepared = functions_.prepared(function);
  Steps steps = steps_of(lang::cast<lang::Function>(prepared).body);
  return globals_.emplace(key, Global{std::move(steps)}).first->second;
}

bool ReferenceUse::reaches_use(Steps steps) {
  if (steps.uses) return true;
  std::vector<Callee> open = std::move(steps.callees);
  std::unordered_set<std::string> seen;
  while (!open.empty()) {
    const Callee callee = std::move(open.back());
    open.pop_back();
    const std::string key = callee.name + " : " + lang::to_string(callee.type);
    if (!seen.insert(key).second) continue;
    const Global& next = global(key, callee);
    if (next.steps.uses) return true;
    if (!next.is_free)
      open.insert(open.end(), next.steps.callees.begin(), next.steps.callees.end());
  }
  for (const std::string& key : seen) globals_.at(key).is_free = true;
  return false;
}

}  // namespace relay::ad
