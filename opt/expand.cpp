#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

class Expander final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    const auto* callee = call ? as<lang::Operator>(call->callee) : nullptr;
    if (!callee || !callee->op->expansion) return expr;
    const lang::AlgebraScope scope(call->algebra);
    const Expr expanded = callee->op->expansion(
        {call->args, lang::complete_attrs(*callee->op, call->attrs, expr->span), expr->type});
    return lang::with_type(at_place(expanded, expr->span, call->args), expr->type);
  }
};

}  // namespace

Expr expand_operators(const Expr& expr) { return Expander().rewrite(expr); }

}  // namespace relay::opt
