#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass join_step_products_pass() {
  Pass pass;
  pass.name = "JoinStepProducts";
  pass.doc = "multiplies all rows at once where a counting loop multiplies one in each step";
  pass.keeps = Keeps::Rounding;
  pass.level = 3;
  pass.example =
      R"(def rows(n: int32, h, xs: Tensor[(6, 16), float64], w: Tensor[(16, 16), float64]) -> Tensor[(16), float64] { if n == 6 { h } else { rows(n + 1, tanh(w @ xs[n] + h), xs, w) } }
def whole(xs: Tensor[(6, 16), float64], w: Tensor[(16, 16), float64], h: Tensor[(16), float64]) { rows(0, h, xs, w) })";
  pass.pipeline_place = 10;
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) { return program.step_products().join(fn, program); });
  };
  return pass;
}

}  // namespace relay::opt
