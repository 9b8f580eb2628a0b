#include "opt/graph_form.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass to_basic_block_normal_form_pass() {
  Pass pass;
  pass.name = "ToBasicBlockNormalForm";
  pass.doc =
      "names what several scopes use, in the innermost that holds them all; a block is a graph";
  pass.in_anf = false;
  pass.is_idempotent = false;  // what nobody uses may go the second time
  pass.example = R"(def f(x: float32, n: int32) {
  let a = sin(x);
  let b = exp(x * 2.0);
  if n > 0 { a + b * b } else { a }
})";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      return without_lets(to_anf(fn, &program), KeepLets::OfInnerScopes, &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
