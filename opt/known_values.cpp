#include "opt/known_values.h"

#include "lang/module.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

bool is_branch(const Expr& expr) {
  return expr->kind == lang::ExprKind::If || expr->kind == lang::ExprKind::Match;
}

void KnownValues::learn(const Expr& code) {
  lang::visit_post_order(code, [this](const Expr& node) {
    if (const auto* let = as<lang::Let>(node)) values_[let->variable.get()] = let->value;
  });
}

const Expr& KnownValues::of(const Expr& atom) const {
  const Expr* at = &atom;
  while (const auto* var = as<lang::Var>(*at)) {
    const Expr* found = values_.find(var->variable.get());
    if (!found) break;
    at = found;
  }
  return *at;
}

std::optional<Construction> KnownValues::construction(const Expr& atom) const {
  const Expr& value = of(atom);
  if (const auto* alone = as<lang::ConstructorRef>(value)) {
    if (!alone->constructor->fields.empty()) return std::nullopt;
    return Construction{alone->constructor, {}};
  }
  const auto* call = as<lang::Call>(value);
  const auto* callee = call ? as<lang::ConstructorRef>(call->callee) : nullptr;
  if (!callee) return std::nullopt;
  return Construction{callee->constructor, call->args};
}

}  // namespace relay::opt
