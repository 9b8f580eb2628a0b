#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass expand_derivatives_pass() {
  Pass pass;
  pass.name = "ExpandDerivatives";
  pass.doc = "puts the functions that `grad(f)` and its kin stand for in their place";
  pass.in_anf = false;
  pass.keeps = Keeps::Rounding;
  pass.level = 0;
  // What a `let` inside of an operand keeps in index notation may leave it the second time.
  pass.is_idempotent = false;
  pass.example = R"(def slope(x: float32) { grad(fn (t) { sin(t) * t })(x) })";
  pass.pipeline_place = 2;
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) { return program.host().without_derivatives(fn); });
  };
  return pass;
}

}  // namespace relay::opt
