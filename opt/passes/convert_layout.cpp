#include "opt/layout_conversion.h"

namespace relay::opt {

Pass convert_layout_pass() {
  Pass pass;
  pass.name = "ConvertLayout";
  pass.doc =
      "gives convolutions over two axes another layout, which what stands behind them takes over";
  pass.options = {
      {"data_layout", lang::AttrKind::String, lang::AttrValue("NHWC"),
       "of their data and results, as `NCHW`, or in blocks, as `NCHW4c`"},
      {"kernel_layout", lang::AttrKind::String, lang::AttrValue("default"),
       "of their weights; `default` is `HWIO`, `OIHW` or `OIHW4i4o`, as it goes with the data"}};
  pass.keeps = Keeps::Rounding;
  pass.level = 3;
  pass.example =
      R"(def f(x: Tensor[(1, 2, 4, 4), float32], w: Tensor[(2, 2, 3, 3), float32], b: Tensor[(2, 1, 1), float32]) {
  nn.max_pool2d(nn.relu(nn.conv2d(x, w) + b), pool_size=[2, 2])
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    convert_layout(program,
                   {options.get_string("data_layout"), options.get_string("kernel_layout")});
  };
  return pass;
}

}  // namespace relay::opt
