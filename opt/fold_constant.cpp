#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

class Folder final : public lang::Rewriter {
 public:
  explicit Folder(const Evaluate& evaluate) : evaluate_(evaluate) {}

  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    std::vector<lang::Binding> kept;
    for (lang::Binding& binding : opened.bindings) {
      Expr value = step(binding.value);
      changed = changed || !(value == binding.value);
      if (is_constant(value)) constants_[binding.variable.get()] = value;
      kept.push_back({binding.variable, std::move(value), binding.span});
    }
    Expr result = step(opened.result);
    changed = changed || !(result == opened.result);
    return changed ? lang::close_block({std::move(kept), std::move(result)}) : expr;
  }

 protected:
  Expr pre(const Expr& expr) override { return expr->kind == ExprKind::Let ? block(expr) : Expr(); }
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
    if (!op || call->args.empty() || op->op->effect != lang::Effect::None) return expr;
    for (const Expr& arg : call->args) {
      if (!is_constant(arg)) return expr;
    }
    if (!as<lang::TensorType>(expr->type)) return expr;
    const Expr value = evaluate_(expr);
    return value ? value : expr;
  }

 private:
  static bool is_constant(const Expr& expr) {
    if (const auto* tuple = as<lang::Tuple>(expr)) {
      for (const Expr& field : tuple->fields) {
        if (!is_constant(field)) return false;
      }
      return true;
    }
    return expr->kind == ExprKind::Constant;
  }

  Expr step(const Expr& value) {
    return rewrite(constants_.empty() ? value : lang::substitute(value, constants_));
  }

  const Evaluate& evaluate_;
  lang::Substitution constants_;
};

}  // namespace

Expr fold_constants(const Expr& expr, const Evaluate& evaluate) {
  return Folder(evaluate).rewrite(expr);
}

}  // namespace relay::opt
