#include "lang/op.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;

namespace {

// The operand that a sum with zeros, or a product with ones, is.
Expr other_operand(const Expr& step, const std::vector<Expr>& args, double neutral,
                   const Definitions& definitions) {
  for (const std::size_t i : {0U, 1U}) {
    if (definitions.is_number(args[i], neutral) && same_type(args[1 - i], step)) return args[1 - i];
  }
  return nullptr;
}

// Zeros that a product is multiplied by: of real numbers, whatever the other operand is.
Expr zero_operand(const Expr& step, const std::vector<Expr>& args, const Definitions& definitions) {
  if (lang::algebra_of(step) != lang::Algebra::Real) return nullptr;
  for (const Expr& arg : args) {
    if (definitions.is_number(arg, 0) && same_type(arg, step)) return arg;
  }
  return nullptr;
}

Expr without_initial_values(const Expr& step, const Definitions& definitions) {
  const auto arithmetic = lang::arithmetic_step(step);
  if (!arithmetic || step->kind != lang::ExprKind::Call) return nullptr;
  if (arithmetic->prim == lang::Prim::Add)
    return other_operand(step, arithmetic->args, 0, definitions);
  if (arithmetic->prim != lang::Prim::Mul) return nullptr;
  const Expr other = other_operand(step, arithmetic->args, 1, definitions);
  return other ? other : zero_operand(step, arithmetic->args, definitions);
}

}  // namespace

Pass lazy_gradient_init_pass() {
  Pass pass;
  pass.name = "LazyGradientInit";
  pass.doc =
      "makes no zeros and ones that are only added, or multiplied by, as derivatives begin with "
      "them; Relay carries them in a data type, and looks when the program runs";
  pass.keeps = Keeps::Rounding;
  pass.level = 1;
  pass.example =
      R"(def f(x: Tensor[(2), float32]) { x * ones_like(x) + zeros(shape=[2], dtype="float32") })";
  pass.run = replacing(without_initial_values);
  return pass;
}

}  // namespace relay::opt
