#include <vector>

#include "opt/pass_program.h"

namespace relay::opt {

Pass quantize_calibrate_pass();
Pass quantize_annotate_pass();

namespace {

// The passes whose options it has, and hands on. The table of passes is being made while the first
// asks, so that it is no help yet.
const std::vector<Pass>& parts_with_options() {
  static const std::vector<Pass> kParts = {quantize_annotate_pass(), quantize_calibrate_pass()};
  return kParts;
}

void run_part(PassProgram& program, const Pass& part, const lang::Attrs& given) {
  std::vector<lang::Attr> own;
  for (const lang::AttrSpec& option : part.options) {
    if (const lang::AttrValue* value = given.find(option.name))
      own.push_back({option.name, *value});
  }
  program.run(pass_call(part.name, lang::make_attrs(std::move(own)), {}));
}

}  // namespace

Pass quantize_pass() {
  Pass pass;
  pass.name = "Quantize";
  pass.doc =
      "a network of floats in integers of 8 bits: scales into weights, QuantizeAnnotate, "
      "QuantizeCalibrate, QuantizeRealize, and FakeQuantizationToInteger";
  for (const Pass& part : parts_with_options())
    pass.options.insert(pass.options.end(), part.options.begin(), part.options.end());
  pass.options.push_back({"do_simulation", lang::AttrKind::Bool, lang::AttrValue(false),
                          "stop before QuantizeRealize, in floats that are rounded"});
  pass.keeps = Keeps::Meaning;
  pass.level = 0;
  pass.is_idempotent = false;
  pass.example =
      R"(def f(x: Tensor[(1, 2), float32]) {
  nn.relu(nn.dense(x, [[0.5, 1.0], [0.25, -1.0]]))
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    for (const char* part :
         {"SimplifyInference", "FoldConstant", "FoldScaleAxis", "CanonicalizeOps", "FoldConstant"})
      program.run(pass_call(part, nullptr, {}));
    for (const Pass& part : parts_with_options()) run_part(program, part, options);
    if (options.get_bool("do_simulation")) return;
    program.run(pass_call("QuantizeRealize", nullptr, {}));
    program.run(pass_call("FakeQuantizationToInteger", lang::make_attrs({{"use_qat", true}}), {}));
    program.run(pass_call("FoldConstant", nullptr, {}));
  };
  return pass;
}

}  // namespace relay::opt
