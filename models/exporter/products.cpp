// Products of matrices.
#include <array>
#include <utility>

#include "models/exporter/operators.h"

namespace relay::models::exporter {

namespace {

// Products and sums are of the result's dtype.
std::string operand(Call& call, std::size_t k) {
  const lang::DType dtype = call.result().dtype.known();
  return call.dtype(k) == dtype ? call.in(k) : cast(call, call.in(k), dtype);
}

std::string exchanged(Call& call, const std::string& name, std::size_t rank) {
  std::vector<std::int64_t> axes;
  for (std::size_t k = 0; k < rank; ++k) axes.push_back(static_cast<std::int64_t>(k));
  std::swap(axes[rank - 1], axes[rank - 2]);
  return transpose(call.graph, name, axes);
}

Value dense(Call& call) {
  const std::string data = operand(call, 0);
  const std::string weight = operand(call, 1);
  if (call.rank(0) == 2 && lang::is_float(call.result().dtype.known()))
    return call.give(call.node("Gemm", {data, weight}, {{"transB", std::int64_t{1}}}));
  return call.give(call.node("MatMul", {data, exchanged(call, weight, 2)}));
}

Value matrix_product(Call& call) {
  return call.give(call.node("MatMul", {operand(call, 0), operand(call, 1)}));
}

Value turned_product(Call& call) {
  std::string a = operand(call, 0);
  std::string b = operand(call, 1);
  if (call.attrs->get_bool("transpose_a")) a = exchanged(call, a, call.rank(0));
  if (call.attrs->get_bool("transpose_b")) b = exchanged(call, b, call.rank(1));
  return call.give(call.node("MatMul", {a, b}));
}

Value bias(Call& call) {
  const std::int64_t axis = call.axis("axis", call.rank(0));
  std::vector<std::int64_t> axes;
  for (auto k = 1; k < static_cast<std::int64_t>(call.rank(0)) - axis; ++k) axes.push_back(k);
  return call.give(call.node("Add", {call.in(0), call.graph.unsqueeze(call.in(1), axes)}));
}

Value einsum(Call& call) {
  std::vector<std::string> inputs;
  for (Value& each : call.arg(0).fields) inputs.push_back(call.graph.name_of(each));
  return call.give(
      call.node("Einsum", std::move(inputs), {{"equation", call.attrs->get_string("equation")}}));
}

constexpr auto kProducts = std::to_array<Operator>({
    {"einsum", &einsum, "`Einsum`"},
    {"matmul", &matrix_product, "`MatMul`"},
    {"nn.batch_matmul", &turned_product, "`Transpose`, `MatMul`"},
    {"nn.bias_add", &bias, "`Unsqueeze`, `Add`"},
    {"nn.dense", &dense, "`Gemm`; of other ranks `Transpose`, `MatMul`"},
    {"nn.matmul", &turned_product, "`Transpose`, `MatMul`"},
});

}  // namespace

std::span<const Operator> product_operators() { return kProducts; }

}  // namespace relay::models::exporter
