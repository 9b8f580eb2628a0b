#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass to_a_normal_form_pass() {
  Pass pass;
  pass.name = "ToANormalForm";
  pass.doc = "names every step";
  pass.in_anf = false;
  pass.level = 0;
  // What a `let` inside of an operand keeps in index notation may leave it the second time.
  pass.is_idempotent = false;
  pass.example = R"(def f(x: float32) { sin(x) * exp(x + 1.0) })";
  pass.pipeline_place = 3;
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) { return to_anf(fn, &program); });
  };
  return pass;
}

}  // namespace relay::opt
