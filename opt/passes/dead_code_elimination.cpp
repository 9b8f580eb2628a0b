#include "opt/dead_references.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass dead_code_elimination_pass() {
  Pass pass;
  pass.name = "DeadCodeElimination";
  pass.doc = "drops bindings without effect that nobody uses, and writes that nobody reads";
  pass.example = R"(def f(x: float32) { let unused = exp(x); x * 2.0 })";
  pass.pipeline_place = 9;
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      Expr before;
      Expr after = fn;
      while (!(after == before)) {
        before = after;
        after = eliminate_dead_references(eliminate_dead_code(before, &program), &program);
      }
      return after;
    });
  };
  return pass;
}

}  // namespace relay::opt
