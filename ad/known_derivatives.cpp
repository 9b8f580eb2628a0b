#include "ad/known_derivatives.h"

#include <algorithm>

#include "ad/closures.h"
#include "ad/function_tangent.h"
#include "ad/pairs.h"
#include "ad/tangent.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::VariableRef;

// Puts the literals in place.
class KnownDerivatives::Pass final : public lang::Rewriter {
 public:
  explicit Pass(KnownDerivatives& owner) : owner_(owner) {}

  Expr run(const Expr& expr) {
    bool asks = false;
    lang::visit_post_order(expr, [&](const Expr& node) {
      asks = asks || mode_of(node).has_value();
      const auto* let = as<lang::Let>(node);
      if (let && let->value->kind == ExprKind::Function)
        literals_[let->variable.get()] = {let->variable, let->value};
    });
    return asks ? rewrite(expr) : expr;
  }

 protected:
  Expr post(const Expr& expr) override {
    const auto mode = mode_of(expr);
    if (!mode) return expr;
    const auto* var = as<lang::Var>(lang::cast<lang::Call>(expr).args[0]);
    const auto found = var ? literals_.find(var->variable.get()) : literals_.end();
    if (found == literals_.end()) return expr;
    const auto& [variable, literal] = found->second;
    const auto free = lang::free_variables(literal);
    const bool is_recursive = std::find(free.begin(), free.end(), variable) != free.end();
    const Expr known = owner_.of_literal(literal, is_recursive ? variable : VariableRef(), *mode);
    return known ? lang::rename_bound(known) : expr;
  }

 private:
  std::optional<Mode> mode_of(const Expr& expr) const {
    const auto* call = as<lang::Call>(expr);
    const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
    if (op && op->op == &owner_.pairs_.tangents().pullback_operator()) return Mode::Pullback;
    if (op && op->op == &owner_.pairs_.tangents().tangent_operator()) return Mode::Tangent;
    return std::nullopt;
  }

  KnownDerivatives& owner_;
  std::unordered_map<const lang::Variable*, std::pair<VariableRef, Expr>> literals_;
};

Expr KnownDerivatives::resolved(const Expr& expr) { return Pass(*this).run(expr); }

Expr KnownDerivatives::of_literal(const Expr& literal, const VariableRef& self, Mode mode) {
  const std::pair key(literal.get(), mode);
  if (const auto found = known_.find(key); found != known_.end()) return found->second.second;
  // Each for the one before.
  constexpr std::ptrdiff_t kMostNested = 1;
  const auto is_being_made = [](const auto& entry) { return !entry.second.first; };
  if (std::count_if(known_.begin(), known_.end(), is_being_made) >= kMostNested) return Expr();
  known_[key] = {};
  const auto made = lang::capture([&] {
    return mode == Mode::Pullback ? pullback_literal(program_, pairs_, literal, self)
                                  : tangent_literal(program_, pairs_, literal, self);
  });
  const Expr derived = made ? *made : Expr();
  known_[key] = {literal, derived};
  return derived;
}

}  // namespace relay::ad
