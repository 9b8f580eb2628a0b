#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass eliminate_common_subexpr_pass() {
  Pass pass;
  pass.name = "EliminateCommonSubexpr";
  pass.doc = "computes equal pure values once";
  pass.level = 3;
  pass.example = R"(def f(x: float32) { exp(x) * sin(x) + exp(x) })";
  pass.pipeline_place = 8;
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      return eliminate_dead_code(eliminate_common_subexpressions(fn, &program), &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
