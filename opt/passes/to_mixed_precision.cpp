#include "opt/mixed_precision.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass to_mixed_precision_pass() {
  Pass pass;
  pass.name = "ToMixedPrecision";
  pass.doc =
      "computes products and convolutions, and what follows from them, in a narrow float; "
      "functions "
      "that no other calls give it, too";
  pass.options = {{"mixed_precision_type", lang::AttrKind::DType,
                   lang::AttrValue(lang::DType::Float16), "float16 or bfloat16"},
                  {"missing_op_mode", lang::AttrKind::Int, lang::AttrValue(1),
                   "operators that Relay has no rule for: 0 refuses them, 1 and 2 let them follow "
                   "their operands"}};
  pass.keeps = Keeps::Meaning;
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(2, 4), float32], w: Tensor[(3, 4), float32], b: Tensor[(3), float32]) {
  nn.softmax(nn.dense(x, w) + b)
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const MixedPrecision how{options.get_dtype("mixed_precision_type"),
                             options.get_int("missing_op_mode") == 0};
    check_mixed_precision(how);
    const auto called = called_functions(program.functions());
    program.each_at_once([&](const auto& entry) {
      return with_mixed_precision(entry.function, how, called.contains(entry.name));
    });
  };
  return pass;
}

}  // namespace relay::opt
