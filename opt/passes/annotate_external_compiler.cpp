#include "opt/external.h"
#include "opt/merge_composites.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::Expr;

Pass annotate_external_compiler_pass() {
  Pass pass;
  pass.name = "AnnotateExternalCompiler";
  pass.doc = "MergeComposite, AnnotateTarget and MergeCompilerRegions, one behind another";
  pass.options = {compilers_option()};
  pass.level = 0;
  pass.example = R"(def f(x: Tensor[(2, 3), float32], w: Tensor[(4, 3), float32],
  compiler="dnnl") {
  sin(tanh(nn.relu(nn.dense(x, w))))
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    Composites composites(program.host());
    program.each([&](const Expr& fn) {
      const auto compilers = compilers_for(options, fn, program.host());
      if (compilers.empty()) return fn;
      const Expr merged = to_anf(merge_composites(fn, compilers, composites, program), &program);
      return merge_compiler_regions(to_anf(annotate_targets(merged, compilers, true), &program),
                                    &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
