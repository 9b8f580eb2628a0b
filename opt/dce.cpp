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
    bool changed = false;
    lang::PointerSet<lang::Variable> live;
    const auto use = [&](const Expr& used) {
      for (const auto& variable : lang::free_variables(used)) live.insert(variable.get());
    };
    Expr result = nested(opened.result);
    changed = !(result == opened.result);
    use(result);
    for (const lang::Binding& binding : opened.bindings)
      effects_.define(binding.variable, binding.value);
    const std::vector<bool> idle =
        only_functions_ ? std::vector<bool>(opened.bindings.size()) : idle_walks(opened, effects_);
    std::vector<lang::Binding> kept;
    for (std::size_t i = opened.bindings.size(); i-- > 0;) {
      lang::Binding& binding = opened.bindings[i];
      if (idle[i] || (!live.contains(binding.variable.get()) && may_go(binding.value))) {
        changed = true;
        continue;
      }
      Expr value = nested(binding.value);
      changed = changed || !(value == binding.value);
      use(value);
      kept.push_back({binding.variable, std::move(value), binding.span});
    }
    if (!changed) return expr;
    return lang::close_block({{kept.rbegin(), kept.rend()}, std::move(result)});
  }

 protected:
  Expr pre(const Expr& expr) override {
    return expr->kind == lang::ExprKind::Let ? block(expr) : Expr();
  }

 private:
  Expr nested(const Expr& expr) { return rewrite(expr); }
  bool may_go(const Expr& value) {
    if (only_functions_) return value->kind == lang::ExprKind::Function;
    return !effects_.has_effect(value);
  }

  const bool only_functions_;
  Effects effects_;
};

}  // namespace

Expr eliminate_dead_code(const Expr& expr, lang::Program* program) {
  return Cleaner(false, program).block(expr);
}
Expr eliminate_unused_functions(const Expr& expr) { return Cleaner(true, nullptr).block(expr); }

}  // namespace relay::opt
