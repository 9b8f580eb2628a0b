#include <fmt/format.h>

#include "opt/layout_conversion.h"

namespace relay::opt {

Pass alter_op_layout_pass() {
  Pass pass;
  pass.name = "AlterOpLayout";
  pass.doc =
      "puts the channels of convolutions over two axes in blocks (`NCHW8c`), where their numbers "
      "are multiples of that";
  pass.options = {{"block", lang::AttrKind::Int, lang::AttrValue(8), "channels in a block"}};
  pass.keeps = Keeps::Rounding;
  pass.level = 3;
  pass.example =
      R"(def f(x: Tensor[(1, 8, 4, 4), float32], w: Tensor[(8, 8, 3, 3), float32]) {
  nn.relu(nn.conv2d(x, w))
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const std::int64_t block = options.get_int("block");
    if (block < 1)
      lang::fail(lang::DiagnosticKind::BadAttribute, "a block has at least one channel");
    convert_layout(program, {fmt::format("NCHW{}c", block), "default"});
  };
  return pass;
}

}  // namespace relay::opt
