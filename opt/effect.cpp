#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

enum class Checks : bool { Count, AreNone };

bool is_check(lang::Effect effect) {
  return effect == lang::Effect::CheckDims || effect == lang::Effect::CheckShape;
}

bool has_own_effect(const Expr& node, Checks checks) {
  switch (node->kind) {
    case ExprKind::RefCreate:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
      return true;
    case ExprKind::Call: {
      const Expr& callee = lang::cast<lang::Call>(node).callee;
      if (const auto* op = as<lang::Operator>(callee)) {
        if (checks == Checks::AreNone && is_check(op->op->effect)) return false;
        return op->op->effect != lang::Effect::None;
      }
      if (callee->kind == ExprKind::ConstructorRef) return false;
      if (const auto* fn = as<lang::Function>(callee))
        return !(fn->attrs && fn->attrs->find("Primitive"));
      return true;  // an unknown function may do anything, also not return
    }
    case ExprKind::Match:
      return !lang::cast<lang::Match>(node).is_complete;
    default:
      return false;
  }
}

bool has_effect_or_check(const Expr& root, Checks checks) {
  const Expr* at = &root;
  while (const auto* let = as<lang::Let>(*at)) {
    if (has_effect_or_check(let->value, checks)) return true;
    at = &let->body;
  }
  const Expr& expr = *at;
  if (expr->kind == ExprKind::Function) return false;
  if (has_own_effect(expr, checks)) return true;
  bool found = false;
  lang::for_each_child(
      expr, [&](const Expr& child) { found = found || has_effect_or_check(child, checks); });
  return found;
}

}  // namespace

bool has_effect(const Expr& expr) { return has_effect_or_check(expr, Checks::Count); }
bool is_bound_to_place(const Expr& expr) { return has_effect_or_check(expr, Checks::AreNone); }

}  // namespace relay::opt
