#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass dead_code_elimination_pass() {
  Pass pass;
  pass.name = "DeadCodeElimination";
  pass.doc = "drops bindings without effect that nobody uses";
  pass.example = R"(def f(x: float32) { let unused = exp(x); x * 2.0 })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) { return eliminate_dead_code(fn, &program); });
  };
  return pass;
}

}  // namespace relay::opt
