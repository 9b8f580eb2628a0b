// Operators whose values are shapes, or are made of shapes.
#include <array>

#include <fmt/format.h>

#include "models/onnx/operators.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::Dim;
using lang::DType;
using lang::Tensor;

void shape_of(Call& call) {
  const auto rank = static_cast<std::int64_t>(call.rank(0));
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = place(call.integer("start", 0));
  const std::int64_t end = place(call.integer("end", rank));
  std::vector<Dim> elements;
  for (std::int64_t k = begin; k < end; ++k)
    elements.push_back(call.in(0).dims()[static_cast<std::size_t>(k)]);
  call.give(elements_value(call.output_name(0), std::move(elements), false));
}

void size_of_tensor(Call& call) {
  call.give(elements_value(call.output_name(0), {element_count(call.in(0).dims())}, true));
}

void constant(Call& call) {
  const Node& node = call.node;
  const auto ints = [&](const std::vector<std::int64_t>& numbers, bool is_scalar) {
    std::vector<Dim> elements(numbers.begin(), numbers.end());
    call.give(elements_value(call.output_name(0), std::move(elements), is_scalar));
  };
  const auto floats = [&](const std::vector<double>& numbers, bool is_scalar) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    auto tensor =
        is_scalar ? Tensor::make(DType::Float32, {}) : Tensor::make(DType::Float32, {count});
    for (std::int64_t k = 0; k < count; ++k)
      tensor->set_bits(
          k, lang::bits_from_double(DType::Float32, numbers[static_cast<std::size_t>(k)]));
    call.give(constant_value(call.output_name(0), std::move(tensor)));
  };
  if (const auto* value = node.find<lang::TensorRef>("value"))
    return call.give(constant_value(call.output_name(0), *value));
  if (const auto* value = node.find<std::int64_t>("value_int")) return ints({*value}, true);
  if (const auto* value = node.find<std::vector<std::int64_t>>("value_ints"))
    return ints(*value, false);
  if (const auto* value = node.find<double>("value_float")) return floats({*value}, true);
  if (const auto* value = node.find<std::vector<double>>("value_floats"))
    return floats(*value, false);
  call.unsupported("a constant of strings, or a sparse one");
}

void constant_of_shape(Call& call) {
  const auto* value = call.node.find<lang::TensorRef>("value");
  if (value && (*value)->element_count() != 1) call.bad("`value` is not one number");
  const std::string number = value ? literal((*value)->number_at(0), (*value)->dtype()) : "0.0";
  const DType dtype = value ? (*value)->dtype() : DType::Float32;
  if (!call.in(0).elements)
    return call.give(
        fmt::format("dyn.full({}, {}, dtype={})", number, call.text(0), dtype_text(dtype)));
  const std::vector<Dim>& shape = *call.in(0).elements;
  for (const Dim& each : shape) {
    if (each.is_constant() && each.constant() < 0)
      call.bad(fmt::format("the extent {}", each.constant()));
  }
  // As many ones as axes, or the like, and the axes are known.
  if (shape.size() == 1 && shape[0].is_constant() && shape[0].constant() <= 64 &&
      lang::is_int(dtype)) {
    return call.give(
        elements_value(call.output_name(0),
                       std::vector<Dim>(static_cast<std::size_t>(shape[0].constant()),
                                        Dim(lang::int_from_bits(dtype, (*value)->bits_at(0)))),
                       false, dtype));
  }
  Value result = call.let(call.hint(), fmt::format("full({}, shape={}, dtype={})", number,
                                                   list_text(shape), dtype_text(dtype)));
  result.type = lang::tensor_type(lang::Shape(shape), dtype);
  call.importer.declare(result.text, result.type);
  result.is_zero = !value || (*value)->bits_at(0) == 0;
  call.give(result);
}

void range(Call& call) {
  const Value& start = call.in(0);
  const Value& limit = call.in(1);
  const Value& step = call.in(2);
  const auto is_number = [](const Value& value, double number) {
    return value.constant && value.constant->element_count() == 1 &&
           value.constant->number_at(0) == number;
  };
  if (is_number(start, 0) && is_number(step, 1) && limit.elements && limit.dtype() == DType::Int64)
    return call.give(fmt::format("for i < {} {{ i }}", limit.elements->front().to_string()));
  call.give(fmt::format("arange({}, {}, {}, dtype={})", call.text(0), call.text(1), call.text(2),
                        dtype_text(start.dtype())));
}

void eye_like(Call& call) {
  if (call.rank(0) != 2) call.bad("the input is no matrix");
  const DType dtype = call.node.find<std::int64_t>("dtype")
                          ? dtype_of_number(call, call.integer("dtype", 1))
                          : call.in(0).dtype();
  const std::int64_t k = call.integer("k", 0);
  const auto& dims = call.in(0).dims();
  const std::string place = k == 0  ? "i"
                            : k > 0 ? fmt::format("i + {}", k)
                                    : fmt::format("i - {}", -k);
  call.give(fmt::format("for i < {}, j < {} {{ cast(j == {}, dtype={}) }}", dims[0].to_string(),
                        dims[1].to_string(), place, dtype_text(dtype)));
}

void non_zero(Call& call) {
  const std::string x =
      call.in(0).dtype() == DType::Bool ? call.text(0) : infix(call.text(0), "!=", call.like(0, 0));
  call.give(fmt::format("transpose(cast(argwhere({}), dtype=\"int64\"))", x));
}

void window(Call& call) {
  const auto sizes = call.known(0);
  if (sizes.size() != 1 || sizes[0] < 0) call.bad("the size is no extent");
  const DType dtype = dtype_of_number(call, call.integer("output_datatype", 1));
  const bool is_periodic = call.integer("periodic", 1) != 0;
  const double steps = static_cast<double>(is_periodic ? sizes[0] : sizes[0] - 1);
  const std::string angle =
      fmt::format("cast(i, dtype={}) * {}", dtype_text(dtype),
                  literal(steps == 0 ? 0 : 2 * 3.14159265358979323846 / steps, dtype));
  const auto number = [&](double value) { return literal(value, dtype); };
  std::string text;
  if (call.node.op == "HannWindow")
    text = fmt::format("{0} - {0} * cos({1})", number(0.5), angle);
  else if (call.node.op == "HammingWindow")
    text = fmt::format("{} - {} * cos({})", number(25.0 / 46), number(21.0 / 46), angle);
  else
    text = fmt::format("{} - {} * cos({}) + {} * cos({} * {})", number(0.42), number(0.5), angle,
                       number(0.08), number(2), angle);
  call.give(fmt::format("for i < {} {{ {} }}", sizes[0], text));
}

constexpr auto kShapesOperators = std::to_array<Operator>({
    {"Shape", &shape_of, "extents; gives no line"},
    {"Size", &size_of_tensor, "extents; gives no line"},
    {"Constant", &constant, "no strings", "", false},
    {"ConstantOfShape", &constant_of_shape, ""},
    {"Range", &range, ""},
    {"EyeLike", &eye_like, ""},
    {"NonZero", &non_zero, ""},
    {"HannWindow", &window, "size known"},
    {"HammingWindow", &window, "size known"},
    {"BlackmanWindow", &window, "size known"},
});

}  // namespace

std::span<const Operator> shape_operators() { return kShapesOperators; }

}  // namespace relay::models::onnx
