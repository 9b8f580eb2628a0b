#include <algorithm>

#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

// The calls that an operator has become stand where it was called.
class Placed final : public lang::Rewriter {
 public:
  Placed(const lang::Call& call, lang::Span place) : call_(call), place_(place) {}

 protected:
  Expr pre(const Expr& expr) override {
    return std::find(call_.args.begin(), call_.args.end(), expr) == call_.args.end() ? Expr()
                                                                                     : expr;
  }
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    return call && !expr->span ? lang::make_call(call->callee, call->args, call->attrs, place_,
                                                 expr->type, call->algebra)
                               : expr;
  }

 private:
  const lang::Call& call_;
  lang::Span place_;
};

class Expander final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    const auto* callee = call ? as<lang::Operator>(call->callee) : nullptr;
    if (!callee || !callee->op->expansion) return expr;
    const lang::AlgebraScope scope(call->algebra);
    const Expr expanded = callee->op->expansion(
        {call->args, lang::complete_attrs(*callee->op, call->attrs, expr->span), expr->type});
    return lang::with_type(Placed(*call, expr->span).rewrite(expanded), expr->type);
  }
};

}  // namespace

Expr expand_operators(const Expr& expr) { return Expander().rewrite(expr); }

}  // namespace relay::opt
