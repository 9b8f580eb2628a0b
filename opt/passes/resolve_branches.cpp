#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass resolve_branches_pass() {
  Pass pass;
  pass.name = "ResolveBranches";
  pass.doc = "takes matches on known constructions, joins branches that belong together";
  pass.is_idempotent = false;
  pass.example = R"(def f(x: float32) { match (Some(x)) { Some(y) => y * 2.0, None => 0.0 } })";
  pass.pipeline_place = 5;
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      return eliminate_dead_code(to_anf(resolve_branches(fn, &program), &program), &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
