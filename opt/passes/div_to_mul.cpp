#include <algorithm>
#include <cmath>

#include "lang/build.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

// Of each element; null where one of them is no normal number: dividing by it gives other results
// than multiplying, by far.
Expr reciprocal(const Expr& divisor) {
  const lang::Tensor& value = *lang::cast<lang::Constant>(divisor).value;
  if (!lang::is_float(value.dtype())) return nullptr;
  const lang::TensorRef made = lang::Tensor::make(value.dtype(), value.shape());
  for (std::int64_t i = 0; i < value.element_count(); ++i) {
    made->set_bits(i, lang::bits_from_double(value.dtype(), 1 / value.number_at(i)));
    if (!std::isnormal(made->number_at(i))) return nullptr;
  }
  return lang::make_constant(made, divisor->span);
}

Expr as_product(const Expr& step, const Definitions& definitions) {
  const auto arithmetic = lang::arithmetic_step(step);
  if (!arithmetic || arithmetic->prim != lang::Prim::Div) return nullptr;
  const Expr& divisor = definitions.of(arithmetic->args[1]);
  const Expr factor = divisor->kind == lang::ExprKind::Constant ? reciprocal(divisor) : Expr();
  if (!factor) return nullptr;
  const std::vector<Expr> factors = {arithmetic->args[0], factor};
  return step->kind == lang::ExprKind::Primitive ? build::prim(lang::Prim::Mul, factors)
                                                 : build::op("multiply", factors);
}

}  // namespace

Pass div_to_mul_pass() {
  Pass pass;
  pass.name = "DivToMul";
  pass.doc = "multiplies by the reciprocal instead of dividing by a constant";
  pass.keeps = Keeps::Rounding;
  pass.level = 0;
  pass.example = R"(def f(x: Tensor[(4), float32]) { x / 8.0 + 1.0 / x })";
  pass.run = replacing(as_product);
  return pass;
}

}  // namespace relay::opt
