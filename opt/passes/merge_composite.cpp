#include "opt/external.h"
#include "opt/merge_composites.h"

namespace relay::opt {

using lang::Expr;

Pass merge_composite_pass() {
  Pass pass;
  pass.name = "MergeComposite";
  pass.doc =
      "makes one function, with `Composite=\"x.name\"`, of operators that an external compiler "
      "runs as one step";
  pass.options = {compilers_option()};
  pass.level = 0;
  pass.example = R"(def f(x: Tensor[(2, 3), float32], w: Tensor[(4, 3), float32],
  b: Tensor[(4), float32], compiler="dnnl") {
  nn.relu(nn.bias_add(nn.dense(x, w), b))
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    Composites composites(program.host());
    program.each([&](const Expr& fn) {
      const auto compilers = compilers_for(options, fn, program.host());
      return merge_composites(fn, compilers, composites, program);
    });
  };
  return pass;
}

}  // namespace relay::opt
