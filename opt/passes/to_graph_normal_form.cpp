#include "opt/graph_form.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass to_graph_normal_form_pass() {
  Pass pass;
  pass.name = "ToGraphNormalForm";
  pass.doc =
      "puts values in the place of the names that `let` gives them, but for what has an effect or "
      "is used by a function further inside";
  pass.in_anf = false;
  pass.is_idempotent = false;  // what nobody uses may go the second time
  pass.example = R"(def f(x: float32) { let a = sin(x); let b = exp(a); b * 2.0 })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each(
        [&](const Expr& fn) { return without_lets(fn, KeepLets::OfRepeatedCode, &program); });
  };
  return pass;
}

}  // namespace relay::opt
