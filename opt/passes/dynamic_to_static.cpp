#include "opt/pass_program.h"
#include "opt/static_extents.h"

namespace relay::opt {

using lang::Expr;

Pass dynamic_to_static_pass() {
  Pass pass;
  pass.name = "DynamicToStatic";
  pass.doc = "fixes the extents of `dyn.*` and its kin where they follow from constants and types";
  pass.level = 2;
  pass.example =
      R"(def f(x: Tensor[(2, 6), float32], y: Tensor[(3, 4), float32]) { dyn.reshape(x, shape_of(y)) + y })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      const Expr fixed = with_static_extents(fn, program.host().evaluate);
      return fixed == fn ? fn : eliminate_dead_code(fixed, &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
