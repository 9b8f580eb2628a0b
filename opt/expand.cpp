#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

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
    return lang::with_type(
        callee->op->expansion(
            {call->args, lang::complete_attrs(*callee->op, call->attrs, expr->span), expr->type}),
        expr->type);
  }
};

}  // namespace

Expr expand_operators(const Expr& expr) { return Expander().rewrite(expr); }

}  // namespace relay::opt
