#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass fold_constant_pass() {
  Pass pass;
  pass.name = "FoldConstant";
  pass.doc = "evaluates calls of operators on constants";
  pass.level = 2;
  pass.example = R"(def f(x: float32) { x * (exp(1.0) + 2.0) })";
  pass.pipeline_place = 7;
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      return eliminate_dead_code(fold_constants(fn, program.host().evaluate), &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
