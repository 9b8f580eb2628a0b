#include "opt/pass_program.h"

namespace relay::opt {

Pass fold_scale_axis_pass() {
  Pass pass;
  pass.name = "FoldScaleAxis";
  pass.doc =
      "multiplies weights by what scales the results of products, and then by what scales their "
      "data, and folds constants";
  pass.keeps = Keeps::Rounding;
  pass.level = 3;
  pass.example =
      R"(def f(x: Tensor[(1, 2), float32]) {
  nn.dense(x * [2.0, 4.0], [[1.0, 2.0], [3.0, 4.0]]) * [0.5, 0.25]
})";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    for (const char* part : {"BackwardFoldScaleAxis", "ForwardFoldScaleAxis", "FoldConstant"})
      program.run(pass_call(part, nullptr, {}));
  };
  return pass;
}

}  // namespace relay::opt
