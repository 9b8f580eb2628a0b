#include "opt/effect.h"

#include <algorithm>

#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/plain_type.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

bool is_function(const Expr& value) {
  switch (value->kind) {
    case ExprKind::Function:
    case ExprKind::GlobalVar:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::Differentiate:
      return true;
    default:
      return false;
  }
}

bool is_check(lang::Effect effect) {
  return effect == lang::Effect::CheckDims || effect == lang::Effect::CheckShape;
}

}  // namespace

void Effects::define(const lang::VariableRef& variable, const Expr& value) {
  if (is_function(value)) functions_[variable.get()] = value;
}

bool Effects::has_effect(const Expr& expr) { return is_found(expr, true); }

bool Effects::is_bound_to_place(const Expr& expr) { return is_found(expr, false); }

bool Effects::is_found(const Expr& expr, bool checks_count) {
  checks_count_ = checks_count;
  seen_ = {};
  return is_found_in(expr);
}

bool Effects::is_found_in(const Expr& root) {
  const Expr* at = &root;
  while (const auto* let = as<lang::Let>(*at)) {
    if (!seen_.insert(let).second) return false;
    define(let->variable, let->value);
    if (is_found_in(let->value)) return true;
    at = &let->body;
  }
  const Expr& expr = *at;
  if (expr->kind == ExprKind::Function || lang::is_leaf(expr)) return false;
  if (!seen_.insert(expr.get()).second) return false;
  if (is_own(expr)) return true;
  bool found = false;
  lang::for_each_child(expr, [&](const Expr& child) { found = found || is_found_in(child); });
  return found;
}

bool Effects::is_own(const Expr& node) {
  switch (node->kind) {
    case ExprKind::RefCreate:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
      return true;
    case ExprKind::Call:
      return does_call(lang::cast<lang::Call>(node));
    case ExprKind::Match:
      return !lang::cast<lang::Match>(node).is_complete;
    default:
      return false;
  }
}

bool Effects::does_call(const lang::Call& call) {
  if (lang::is_group(call.callee)) return false;
  if (does_calling(call.callee)) return true;
  if (call.callee->kind == ExprKind::Operator || call.callee->kind == ExprKind::ConstructorRef)
    return false;
  // It may call the functions that it is given.
  return std::any_of(call.args.begin(), call.args.end(), [this](const Expr& arg) {
    return !lang::is_plain(arg->type) && does_calling(arg);
  });
}

bool Effects::does_calling(const Expr& function) {
  switch (function->kind) {
    case ExprKind::Operator: {
      const lang::Effect effect = lang::cast<lang::Operator>(function).op->effect;
      return effect != lang::Effect::None && (checks_count_ || !is_check(effect));
    }
    case ExprKind::ConstructorRef:
      return false;
    case ExprKind::GlobalVar:
      return !program_ || !program_->is_pure(lang::cast<lang::GlobalVar>(function).name);
    case ExprKind::Function:
      return is_found_in(lang::cast<lang::Function>(function).body);
    case ExprKind::Differentiate: {
      const auto& node = lang::cast<lang::Differentiate>(function);
      return node.mode == lang::DiffMode::CheckGrad || does_calling(node.fn);
    }
    case ExprKind::Var: {
      const auto found = functions_.find(lang::cast<lang::Var>(function).variable.get());
      if (found == functions_.end()) return true;
      if (!open_.insert(found->first).second) return false;  // it calls itself
      const bool does = does_calling(Expr(found->second));
      open_.erase(found->first);
      return does;
    }
    default:
      return true;
  }
}

}  // namespace relay::opt
