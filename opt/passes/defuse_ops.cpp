#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass defuse_ops_pass() {
  Pass pass;
  pass.name = "DefuseOps";
  pass.doc = "undoes FuseOps";
  pass.level = 3;
  pass.example =
      R"(def f(x: Tensor[(4), float32]) { (fn (t: Tensor[(4), float32], Primitive=1) { exp(t) + t })(x) })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) { return inline_groups(fn); });
  };
  return pass;
}

}  // namespace relay::opt
