#include "lang/build.h"
#include "opt/quantize.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

// `qnn.quantize` and `qnn.dequantize` behind it, in int8; null for what has no scale yet.
Expr realized(const Expr& step, const Definitions& definitions) {
  const auto simulated = simulated_of(step, definitions);
  if (!simulated || simulated->kind == QuantizedKind::Identity || simulated->scale <= 0 ||
      dtype_of(step) != lang::DType::Float32 || simulated->clip_max > 127)
    return nullptr;
  const Expr scale = build::constant(lang::DType::Float32, simulated->scale);
  const Expr zero_point = build::constant_int(lang::DType::Int32, 0);
  Expr integers = build::op("qnn.quantize", {simulated->call->args[0], scale, zero_point},
                            {{"out_dtype", lang::DType::Int8}, {"axis", -1}});
  const auto bound = [](double value) { return build::constant(lang::DType::Int8, value); };
  if (simulated->clip_max < 127)
    integers = build::op("minimum", {integers, bound(simulated->clip_max)});
  if (simulated->clip_min > -128)
    integers = build::op("maximum", {integers, bound(simulated->clip_min)});
  return build::op("qnn.dequantize", {integers, scale, zero_point},
                   {{"out_dtype", lang::DType::Float32}, {"axis", -1}});
}

}  // namespace

Pass quantize_realize_pass() {
  Pass pass;
  pass.name = "QuantizeRealize";
  pass.doc =
      "writes `simulated_quantize` as `qnn.quantize` and `qnn.dequantize`, between which "
      "FakeQuantizationToInteger computes with integers; what has no scale yet stays";
  pass.keeps = Keeps::Rounding;
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(2), float32]) {
  relay.op.annotation.simulated_quantize(x, 0.0625, -127.0, 127.0, kind=1)
})";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([](const Expr& fn) { return replace_steps(fn, realized); });
  };
  return pass;
}

}  // namespace relay::opt
