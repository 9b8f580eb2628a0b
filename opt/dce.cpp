#include "lang/visit.h"
#include "opt/effect.h"
#include "opt/idle_walks.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::Expr;

namespace {

// Applies `clean` to the bodies nested in a value or result (functions, branches, clauses).
class Cleaner final : public lang::Rewriter {
 public:
  Cleaner(bool only_functions, lang::Program* program)
      : only_functions_(only_functions), effects_(program) {}

  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    Expr result = nested(opened.result);
    bool changed = !(result == opened.result);
    for (const lang::Binding& binding : opened.bindings)
      effects_.define(binding.variable, binding.value);
    const std::vector<bool> idle =
        only_functions_ ? std::vector<bool>(opened.bindings.size()) : idle_walks(opened, effects_);
    std::vector<lang::Binding> kept;
    for (std::size_t i = opened.bindings.size(); i-- > 0;) {
      lang::Binding& binding = opened.bindings[i];
      if (idle[i] || (!live_.contains(binding.variable.get()) && may_go(binding.value))) {
        changed = true;
        continue;
      }
      Expr value = nested(binding.value);
      changed = changed || !(value == binding.value);
      kept.push_back({binding.variable, std::move(value), binding.span});
    }
    if (!changed) return expr;
    return lang::close_block({{kept.rbegin(), kept.rend()}, std::move(result)});
  }

 protected:
  Expr pre(const Expr& expr) override {
    return expr->kind == lang::ExprKind::Let ? block(expr) : Expr();
  }
  Expr post(const Expr& expr) override {
    if (const auto* var = lang::as<lang::Var>(expr)) live_.insert(var->variable.get());
    return expr;
  }

 private:
  Expr nested(const Expr& expr) { return rewrite(expr); }
  bool may_go(const Expr& value) {
    if (only_functions_) return value->kind == lang::ExprKind::Function;
    return !effects_.has_effect(value);
  }

  const bool only_functions_;
  Effects effects_;
  // What is used in what has been kept so far; uses come behind the binding, and are seen first.
  lang::PointerSet<lang::Variable> live_;
};

}  // namespace

Expr cleaned(const Expr& made, const Expr& before, lang::Program* program) {
  return made == before ? made : eliminate_dead_code(to_anf(made, program), program);
}

Expr eliminate_dead_code(const Expr& expr, lang::Program* program) {
  return Cleaner(false, program).block(expr);
}
Expr eliminate_unused_functions(const Expr& expr) { return Cleaner(true, nullptr).block(expr); }

}  // namespace relay::opt
