// Tensors that are made of extents and numbers; sums along an axis; triangles.
#include <array>
#include <utility>

#include "models/exporter/operators.h"

namespace relay::models::exporter {

namespace {

using lang::DType;

std::string as_result(Call& call, std::size_t k) {
  const DType dtype = call.result().dtype.known();
  return call.dtype(k) == dtype ? call.in(k) : cast(call, call.in(k), dtype);
}

template <int kNumber>
Value filled(Call& call) {
  const std::string number = call.graph.scalar(kNumber, call.result().dtype.known());
  return call.give(call.node("Expand", {number, call.graph.extents(call.result().shape.dims())}));
}

Value full(Call& call) {
  return call.give(
      call.node("Expand", {as_result(call, 0), call.graph.extents(call.result().shape.dims())}));
}

template <int kNumber>
Value filled_like(Call& call) {
  const std::string number = call.graph.scalar(kNumber, call.dtype());
  return call.give(call.node("Expand", {number, call.node("Shape", {call.in(0)})}));
}

Value full_like(Call& call) {
  return call.give(call.node("Expand", {as_result(call, 1), call.node("Shape", {call.in(0)})}));
}

std::string shape_value(Call& call, std::size_t k) {
  return call.dtype(k) == DType::Int64 ? call.in(k) : cast(call, call.in(k), DType::Int64);
}

template <int kNumber>
Value filled_by_shape(Call& call) {
  const std::string number = call.graph.scalar(kNumber, call.result().dtype.known());
  return call.give(call.node("Expand", {number, shape_value(call, 0)}));
}

Value full_by_shape(Call& call) {
  return call.give(call.node("Expand", {as_result(call, 0), shape_value(call, 1)}));
}

Value range(Call& call) {
  return call.give(
      call.node("Range", {as_result(call, 0), as_result(call, 1), as_result(call, 2)}));
}

Value known_range(Call& call) {
  const DType dtype = call.result().dtype.known();
  const auto number = [&](std::string_view key) {
    const lang::AttrValue& value = *call.attrs->find(key);
    const double real =
        value.as_int() ? static_cast<double>(*value.as_int()) : call.attrs->get_float(key);
    return call.graph.scalar(real, dtype);
  };
  return call.give(call.node("Range", {number("start"), number("stop"), number("step")}));
}

Value cumulative_sum(Call& call) {
  std::string data = as_result(call, 0);
  std::int64_t axis = 0;
  if (call.attrs->is_null("axis")) {
    data = call.node("Reshape", {data, call.graph.integers({-1})});
  } else {
    axis = call.axis("axis", call.rank(0));
  }
  const std::string place = call.graph.scalar(static_cast<double>(axis), DType::Int64);
  return call.give(call.node("CumSum", {data, place},
                             {{"exclusive", std::int64_t{call.attrs->get_bool("exclusive")}}}));
}

Value triangle(Call& call) {
  std::string diagonal = call.in(1);
  if (call.dtype(1) != DType::Int64) diagonal = cast(call, diagonal, DType::Int64);
  return call.give(call.node("Trilu", {call.in(0), diagonal},
                             {{"upper", std::int64_t{call.attrs->get_bool("upper")}}}));
}

constexpr std::string_view kExpand = "`Expand`";

constexpr auto kMaking = std::to_array<Operator>({
    {"arange", &range, "`Range`"},
    {"cumsum", &cumulative_sum, "`CumSum`"},
    {"dyn.full", &full_by_shape, kExpand},
    {"dyn.ones", &filled_by_shape<1>, kExpand},
    {"dyn.zeros", &filled_by_shape<0>, kExpand},
    {"full", &full, kExpand},
    {"full_like", &full_like, "`Shape`, `Expand`"},
    {"ones", &filled<1>, kExpand},
    {"ones_like", &filled_like<1>, "`Shape`, `Expand`"},
    {"range_of", &known_range, "`Range`"},
    {"trilu", &triangle, "`Trilu`"},
    {"zeros", &filled<0>, kExpand},
    {"zeros_like", &filled_like<0>, "`Shape`, `Expand`"},
});

}  // namespace

std::span<const Operator> making_operators() { return kMaking; }

}  // namespace relay::models::exporter
