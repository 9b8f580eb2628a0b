// Operators that draw numbers: from a key that is the model's `seed`, so that a program gives the
// same each time. The numbers are others than those of ONNX Runtime.
#include <array>

#include <fmt/format.h>

#include "models/onnx/operators.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::DType;

std::string key_of(const Call& call) {
  // Without a seed every node has a key of its own: that of its place among the names.
  const double seed = call.number(
      "seed", static_cast<double>(std::hash<std::string>()(call.output_name(0)) % 100000));
  return fmt::format("random.key({})", static_cast<std::int64_t>(seed));
}

void draw(Call& call) {
  const std::string& op = call.node.op;
  const bool is_like = op.ends_with("Like");
  std::string shape;
  DType dtype = DType::Float32;
  if (is_like) {
    shape = list_text(call.in(0).dims());
    dtype = call.in(0).dtype();
  } else {
    const auto list = call.integers("shape");
    if (!list) call.bad("it has no shape");
    shape = list_text(*list);
  }
  if (call.node.find<std::int64_t>("dtype"))
    dtype = dtype_of_number(call, call.integer("dtype", 1));
  const bool is_normal = op.starts_with("RandomNormal");
  const std::string a = literal(is_normal ? call.number("mean", 0) : call.number("low", 0), dtype);
  const std::string b =
      literal(is_normal ? call.number("scale", 1) : call.number("high", 1), dtype);
  call.give(fmt::format("random.{}({}, {}, {}, out_shape={}, out_dtype={}).1",
                        is_normal ? "normal" : "uniform", key_of(call), a, b, shape,
                        dtype_text(dtype)));
}

void bernoulli(Call& call) {
  const DType dtype = call.node.find<std::int64_t>("dtype")
                          ? dtype_of_number(call, call.integer("dtype", 1))
                          : call.in(0).dtype();
  const Value drawn =
      call.let("drawn", fmt::format("random.uniform({}, {}, {}, out_shape={}, out_dtype={}).1",
                                    key_of(call), call.like(0, 0), call.like(0, 1),
                                    list_text(call.in(0).dims()), dtype_text(call.in(0).dtype())));
  call.give(fmt::format("cast({} < {}, dtype={})", drawn.text, call.text(0), dtype_text(dtype)));
}

constexpr auto kRandomOperators = std::to_array<Operator>({
    {"RandomNormal", &draw, "other numbers than those of ONNX Runtime", "", false},
    {"RandomNormalLike", &draw, "other numbers than those of ONNX Runtime", "", false},
    {"RandomUniform", &draw, "other numbers than those of ONNX Runtime", "", false},
    {"RandomUniformLike", &draw, "other numbers than those of ONNX Runtime", "", false},
    {"Bernoulli", &bernoulli, "other numbers than those of ONNX Runtime", "", false},
});

}  // namespace

std::span<const Operator> random_operators() { return kRandomOperators; }

}  // namespace relay::models::onnx
