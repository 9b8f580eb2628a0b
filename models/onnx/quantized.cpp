// Operators of quantized models.
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/onnx/operators.h"
#include "models/onnx/windows.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::DType;

// The least and the largest number.
std::pair<int, int> ends_of(const Call& call, DType dtype) {
  if (dtype == DType::UInt8) return {0, 255};
  if (dtype == DType::Int8) return {-128, 127};
  call.unsupported(fmt::format("quantized numbers of {}", lang::name_of(dtype)));
}

// A scale or a zero point as it goes with the data: one of several stands along an axis.
std::string along(Call& call, std::size_t k, std::size_t axis, std::size_t rank) {
  if (call.rank(k) == 0) return call.text(k);
  if (call.rank(k) == 1 && call.in(k).dims()[0].is_constant(1))
    return fmt::format("{}[0]", call.text(k));
  if (call.rank(k) != 1 || axis + 1 == rank) return call.text(k);
  return fmt::format("expand_dims({}, axis=1, num_newaxis={})", call.text(k), rank - axis - 1);
}

// `onnx.quantize_uint8(x, scale, zero)`: what is nearest, halves to even, kept within the type.
std::string quantize_text(Call& call, const std::string& x, const std::string& scale,
                          const std::string& zero, DType dtype) {
  const auto [low, high] = ends_of(call, dtype);
  const std::string name = fmt::format("onnx.quantize_{}", lang::name_of(dtype));
  call.importer.define(
      name, fmt::format(
                "/// The nearest of the numbers that `{1}` has, in steps of `scale` from `zero`.\n"
                "def {0}(x, scale, zero) {{\n"
                "cast(clip(round(x / scale) + cast(zero, \"float32\"), a_min={2}.0, a_max={3}.0), "
                "dtype=\"{1}\")\n}}",
                name, lang::name_of(dtype), low, high));
  return fmt::format("{}({}, {}, {})", name, x, scale, zero);
}

std::string dequantize_text(Call& call, const std::string& x, const std::string& scale,
                            const std::string& zero) {
  call.importer.define("onnx.dequantize",
                       "/// The number that is `x - zero` steps of `scale` from 0.\n"
                       "def onnx.dequantize(x, scale, zero) {\n"
                       "cast(cast(x, \"int32\") - cast(zero, \"int32\"), \"float32\") * scale\n}");
  return fmt::format("onnx.dequantize({}, {}, {})", x, scale, zero);
}

void quantize(Call& call) {
  const std::size_t rank = call.rank(0);
  const std::size_t axis =
      rank == 0 ? 0 : call.axis(call.rank(1) == 0 ? -1 : call.integer("axis", 1), rank);
  const DType dtype = call.has(2) ? call.in(2).dtype() : DType::UInt8;
  const std::string zero = call.has(2) ? along(call, 2, axis, rank) : literal(0, dtype);
  std::string x = call.text(0);
  if (call.in(0).dtype() != DType::Float32) x = fmt::format("cast({}, dtype=\"float32\")", x);
  call.give(quantize_text(call, x, along(call, 1, axis, rank), zero, dtype));
}

void dequantize(Call& call) {
  const std::size_t rank = call.rank(0);
  const std::size_t axis =
      rank == 0 ? 0 : call.axis(call.rank(1) == 0 ? -1 : call.integer("axis", 1), rank);
  const std::string zero =
      call.has(2) ? along(call, 2, axis, rank) : literal(0, call.in(0).dtype());
  call.give(dequantize_text(call, call.text(0), along(call, 1, axis, rank), zero));
}

void dynamic_quantize(Call& call) {
  const std::string x = call.text(0);
  const Value low = call.let("low", fmt::format("minimum(min({}), 0.0)", x));
  const Value high = call.let("high", fmt::format("maximum(max({}), 0.0)", x));
  const Value scale = call.let("scale", fmt::format("({} - {}) / 255.0", high.text, low.text));
  const Value zero = call.let(
      "zero", fmt::format("cast(round(minimum(maximum(-{} / {}, 0.0), 255.0)), dtype=\"uint8\")",
                          low.text, scale.text));
  call.give(quantize_text(call, x, scale.text, zero.text, DType::UInt8));
  call.give(scale);
  call.give(zero);
}

// Whole numbers less their zero point, as int32.
std::string whole(Call& call, std::size_t k, std::size_t zero, std::size_t axis) {
  const std::string x = fmt::format("cast({}, dtype=\"int32\")", call.text(k));
  if (!call.has(zero)) return x;
  return fmt::format("({} - cast({}, dtype=\"int32\"))", x, along(call, zero, axis, call.rank(k)));
}

void integer_product(Call& call) {
  const std::size_t a = call.rank(0);
  const std::size_t b = call.rank(1);
  call.give(fmt::format("{} @ {}", whole(call, 0, 2, a < 2 ? 0 : a - 2),
                        whole(call, 1, 3, b == 0 ? 0 : b - 1)));
}

std::string convolution_text(Call& call, const std::string& x, const std::string& w,
                             std::size_t data, std::size_t weight) {
  const std::size_t axes = spatial_axes(call, data);
  const Windows windows = windows_of(call, data, kernel_of(call, weight));
  const std::int64_t group = call.integer("group", 1);
  return fmt::format("nn.conv{}d({}, {}{}{})", axes, x, w, windows.attributes(),
                     group == 1 ? "" : fmt::format(", groups={}", group));
}

void integer_convolution(Call& call) {
  call.give(convolution_text(call, whole(call, 0, 2, 1), whole(call, 1, 3, 0), 0, 1));
}

// Sums of products in whole numbers, then in the steps of the result.
void quantized_convolution(Call& call) {
  const std::size_t rank = call.rank(0);
  std::string sums = convolution_text(call, whole(call, 0, 2, 1), whole(call, 3, 5, 0), 0, 3);
  if (call.has(8)) sums = fmt::format("nn.bias_add({}, {})", sums, call.text(8));
  const Value sum = call.let("sums", sums);
  const std::string steps =
      fmt::format("({} * {})", along(call, 1, 1, rank), along(call, 4, 1, rank));
  call.give(quantize_text(call, fmt::format("cast({}, dtype=\"float32\") * {}", sum.text, steps),
                          along(call, 6, 1, rank), along(call, 7, 1, rank), call.in(7).dtype()));
}

void quantized_product(Call& call) {
  const std::size_t a = call.rank(0);
  const std::size_t b = call.rank(3);
  const Value sum = call.let("sums", fmt::format("{} @ {}", whole(call, 0, 2, a < 2 ? 0 : a - 2),
                                                 whole(call, 3, 5, b == 0 ? 0 : b - 1)));
  const std::string steps = fmt::format("({} * {})", along(call, 1, a < 2 ? 0 : a - 2, a),
                                        along(call, 4, b == 0 ? 0 : b - 1, b));
  call.give(quantize_text(call, fmt::format("cast({}, dtype=\"float32\") * {}", sum.text, steps),
                          along(call, 6, 0, 1), along(call, 7, 0, 1), call.in(7).dtype()));
}

// ONNX Runtime's operators on quantized tensors: dequantized, computed, quantized.
void quantized_binary(Call& call) {
  const std::string a =
      dequantize_text(call, call.text(0), along(call, 1, 0, 1), along(call, 2, 0, 1));
  const std::string b =
      dequantize_text(call, call.text(3), along(call, 4, 0, 1), along(call, 5, 0, 1));
  const std::string_view op = call.node.op == "QLinearAdd" ? "+" : "*";
  call.give(quantize_text(call, fmt::format("{} {} {}", a, op, b), along(call, 6, 0, 1),
                          along(call, 7, 0, 1), call.in(7).dtype()));
}

void quantized_unary(Call& call) {
  const std::string x =
      dequantize_text(call, call.text(0), along(call, 1, 0, 1), along(call, 2, 0, 1));
  std::string text = fmt::format("sigmoid({})", x);
  if (call.node.op == "QLinearLeakyRelu")
    text = fmt::format("nn.leaky_relu({}, alpha={})", x,
                       literal(call.number("alpha", 0.01F), DType::Float32));
  if (call.node.op == "QLinearGlobalAveragePool") {
    if (call.integer("channels_last", 0) != 0) call.unsupported("channels behind the other axes");
    text = call.rank(0) == 4 ? fmt::format("nn.global_avg_pool2d({})", x)
                             : fmt::format("mean({}, axis=[0, 1], exclude=True, keepdims=True)", x);
  }
  call.give(
      quantize_text(call, text, along(call, 3, 0, 1), along(call, 4, 0, 1), call.in(4).dtype()));
}

constexpr std::string_view kRuntime = "com.microsoft";
constexpr auto kQuantizedOperators = std::to_array<Operator>({
    {"QuantizeLinear", &quantize, "int8 and uint8"},
    {"DequantizeLinear", &dequantize, ""},
    {"DynamicQuantizeLinear", &dynamic_quantize, ""},
    {"MatMulInteger", &integer_product, ""},
    {"ConvInteger", &integer_convolution, ""},
    {"QLinearConv", &quantized_convolution, "the factors of the scales in float32"},
    {"QLinearMatMul", &quantized_product, "the factors of the scales in float32"},
    {"QLinearAdd", &quantized_binary, "of ONNX Runtime", kRuntime},
    {"QLinearMul", &quantized_binary, "of ONNX Runtime", kRuntime},
    {"QLinearSigmoid", &quantized_unary, "of ONNX Runtime", kRuntime},
    {"QLinearLeakyRelu", &quantized_unary, "of ONNX Runtime", kRuntime},
    {"QLinearGlobalAveragePool", &quantized_unary, "of ONNX Runtime", kRuntime},
});

}  // namespace

std::span<const Operator> quantized_operators() { return kQuantizedOperators; }

}  // namespace relay::models::onnx
