#include "opt/external.h"

namespace relay::opt {

using lang::Expr;

Pass annotate_target_pass() {
  Pass pass;
  pass.name = "AnnotateTarget";
  pass.doc =
      "marks each step for the external compiler that runs it, or `default`, with "
      "`annotation.compiler_begin` and `_end`";
  pass.options = {compilers_option(),
                  {"include_non_call_ops", lang::AttrKind::Bool, lang::AttrValue(true),
                   "tuples, and their fields, go where all of their parts come from"}};
  pass.level = 0;
  pass.example = R"(def f(x: Tensor[(4), float32], compiler="dnnl") { sin(nn.relu(x)) })";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    program.each([&](const Expr& fn) {
      const auto compilers = compilers_for(options, fn, program.host());
      return annotate_targets(fn, compilers, options.get_bool("include_non_call_ops"));
    });
  };
  return pass;
}

}  // namespace relay::opt
