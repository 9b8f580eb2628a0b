#include "opt/quantize.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/op.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

const lang::NamedOp kCastHint("annotation.cast_hint");
const lang::NamedOp kSimulatedQuantize("relay.op.annotation.simulated_quantize");

struct ProductRow {
  lang::NamedOp op;
  QuantizedProduct kind;
};
const std::array<ProductRow, 3> kProducts = {
    {{lang::NamedOp("nn.conv2d"), QuantizedProduct::Convolution},
     {lang::NamedOp("nn.dense"), QuantizedProduct::Dense},
     {lang::NamedOp("nn.batch_matmul"), QuantizedProduct::Batches}}};

struct ChoiceName {
  std::string_view name;
  ScaleChoice choice;
};
constexpr std::array<ChoiceName, 4> kChoices = {{{"max", ScaleChoice::Max},
                                                 {"power2", ScaleChoice::Power2},
                                                 {"percentile", ScaleChoice::Percentile},
                                                 {"kl_divergence", ScaleChoice::Divergence}}};

}  // namespace

QuantizedProduct quantized_product(const Expr& step) {
  const lang::OpDef* op = operator_of(step);
  for (const ProductRow& row : kProducts) {
    if (op && row.op.is(*op)) return row.kind;
  }
  return QuantizedProduct::None;
}

bool hints_at_integers(const Expr& step) {
  const auto* call = call_of(step, kCastHint);
  return call && lang::as<lang::TensorType>(step->type) && lang::is_float(dtype_of(step)) &&
         call->attrs->get_dtype("dtype") == lang::DType::Int8;
}

std::optional<Simulated> simulated_of(const Expr& step, const Definitions& definitions) {
  const auto* call = call_of(step, kSimulatedQuantize);
  if (!call) return std::nullopt;
  const auto scale = definitions.number(call->args[1]);
  const auto low = definitions.number(call->args[2]);
  const auto high = definitions.number(call->args[3]);
  if (!scale || !low || !high) return std::nullopt;
  return Simulated{call, static_cast<QuantizedKind>(call->attrs->get_int("kind")), *scale, *low,
                   *high};
}

Expr simulate(const Expr& data, QuantizedKind kind, double scale, double clip_min,
              double clip_max) {
  const auto number = [&](double value) { return build::constant(dtype_of(data), value); };
  return build::op(kSimulatedQuantize.name(),
                   {data, number(scale), number(clip_min), number(clip_max)},
                   {{"kind", static_cast<std::int64_t>(kind)}});
}

ScaleChoice scale_choice(const std::string& option, const std::string& name,
                         const std::vector<ScaleChoice>& allowed) {
  std::string names;
  for (const ChoiceName& row : kChoices) {
    if (std::find(allowed.begin(), allowed.end(), row.choice) == allowed.end()) continue;
    if (row.name == name) return row.choice;
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", row.name);
  }
  lang::fail(lang::DiagnosticKind::BadAttribute,
             fmt::format("`{}` is one of {}, not `{}`", option, names, name));
}

}  // namespace relay::opt
