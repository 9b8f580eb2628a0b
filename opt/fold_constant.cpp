#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

constexpr std::int64_t kMaxElements = 1024;

class Folder final : public lang::Rewriter {
 public:
  explicit Folder(const EvaluateConstant& evaluate) : evaluate_(evaluate) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
    if (!op || op->op->effect != lang::Effect::None || call->args.empty()) return expr;
    for (const Expr& arg : call->args) {
      if (arg->kind != lang::ExprKind::Constant) return expr;
    }
    const auto value = evaluate_(expr);
    if (!value) return expr;  // the error belongs to run time
    if (!value->is_scalar() && !value->is_tensor()) return expr;
    const lang::TensorRef tensor = value->to_tensor();
    return tensor->element_count() <= kMaxElements ? lang::make_constant(tensor, expr->span) : expr;
  }

 private:
  const EvaluateConstant& evaluate_;
};

}  // namespace

Expr fold_constants(const Expr& expr, const EvaluateConstant& evaluate) {
  return Folder(evaluate).rewrite(expr);
}

}  // namespace relay::opt
