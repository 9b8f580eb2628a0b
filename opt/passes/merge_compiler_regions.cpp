#include "opt/external.h"

namespace relay::opt {

using lang::Expr;

Pass merge_compiler_regions_pass() {
  Pass pass;
  pass.name = "MergeCompilerRegions";
  pass.doc =
      "joins regions of one external compiler that use one another, where none comes to wait for "
      "its own results";
  pass.level = 0;
  pass.example = R"(def f(x: Tensor[(4), float32]) {
  let y = annotation.compiler_begin(x, compiler="dnnl");
  let z = annotation.compiler_end(exp(y), compiler="dnnl");
  annotation.compiler_end(tanh(annotation.compiler_begin(z, compiler="dnnl")), compiler="dnnl")
})";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) { return merge_compiler_regions(fn, &program); });
  };
  return pass;
}

}  // namespace relay::opt
