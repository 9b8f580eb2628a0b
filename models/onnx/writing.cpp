#include "models/onnx/writing.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace relay::models::onnx {

using lang::Dim;
using lang::DType;

namespace {

std::string operand(const std::string& text) {
  return text.starts_with('-') ? fmt::format("({})", text) : text;
}

// Extents as the codes of `reshape`: 0 copies the axis that stands at the same place, and one
// extent that is no number may be what remains. Empty: they cannot say it.
std::string shape_codes(const std::vector<Dim>& from, const std::vector<Dim>& to) {
  std::vector<std::string> codes;
  bool has_rest = false;
  bool copies = true;  // all so far: 0 copies the input's next axis
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (to[k].is_constant()) {
      if (to[k].is_constant(0)) return {};
      codes.push_back(to[k].to_string());
      copies = copies && k < from.size() && from[k] == to[k];
      continue;
    }
    if (copies && k < from.size() && from[k] == to[k]) {
      codes.emplace_back("0");
      continue;
    }
    copies = false;
    if (std::exchange(has_rest, true)) return {};
    codes.emplace_back("-1");
  }
  return fmt::format("[{}]", fmt::join(codes, ", "));
}

}  // namespace

std::string infix(const std::string& a, std::string_view op, const std::string& b) {
  return fmt::format("{} {} {}", operand(a), op, operand(b));
}

Dim element_count(const std::vector<Dim>& dims) {
  Dim count = 1;
  for (const Dim& each : dims) count = count * each;
  return count;
}

Value reshaped(const Call& call, std::string_view hint, Value value,
               const std::vector<Dim>& shape) {
  const std::string text = call.importer.text_of(value);
  std::string codes = shape_codes(value.dims(), shape);
  const std::string zero =
      codes.empty() && std::any_of(shape.begin(), shape.end(),
                                   [](const Dim& dim) { return dim.is_constant(0); })
          ? ", allowzero=True"
          : "";
  if (codes.empty()) codes = list_text(shape);
  Value result = call.let(hint, fmt::format("reshape({}, newshape={}{})", text, codes, zero));
  // What is known here of the extents is more than the type of a computed shape says.
  result.type = lang::tensor_type(lang::Shape(shape), value.dtype());
  call.importer.declare(result.text, result.type);
  return result;
}

std::string cast_text(const std::string& text, DType from, DType to) {
  return from == to ? text : fmt::format("cast({}, dtype={})", text, dtype_text(to));
}

DType dtype_of_number(const Call& call, std::int64_t number) {
  switch (number) {
    case 1:
      return DType::Float32;
    case 2:
      return DType::UInt8;
    case 3:
      return DType::Int8;
    case 4:
      return DType::UInt16;
    case 5:
      return DType::Int16;
    case 6:
      return DType::Int32;
    case 7:
      return DType::Int64;
    case 9:
      return DType::Bool;
    case 10:
      return DType::Float16;
    case 11:
      return DType::Float64;
    case 12:
      return DType::UInt32;
    case 13:
      return DType::UInt64;
    case 16:
      return DType::BFloat16;
    default:
      call.unsupported(fmt::format("strings, complex and unknown numbers (type {})", number));
  }
}

std::string with_axes_text(std::string text, std::vector<std::int64_t> axes) {
  std::sort(axes.begin(), axes.end());
  for (const std::int64_t axis : axes) text = fmt::format("expand_dims({}, axis={})", text, axis);
  return text;
}

}  // namespace relay::models::onnx
