#include "models/onnx/value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/diagnostic.h"

namespace relay::models::onnx {

namespace {

using lang::Dim;
using lang::DType;
using lang::Tensor;

constexpr std::int64_t kMostElements = 4096;  // of shapes and the like that are known

bool fits_elements(const Tensor& tensor) {
  return tensor.rank() <= 1 && lang::is_int(tensor.dtype()) &&
         tensor.element_count() <= kMostElements;
}

std::string_view suffix_of(DType dtype) {
  switch (dtype) {
    case DType::Int8:
      return "i8";
    case DType::Int16:
      return "i16";
    case DType::Int64:
      return "i64";
    case DType::UInt8:
      return "u8";
    case DType::UInt16:
      return "u16";
    case DType::UInt32:
      return "u32";
    case DType::UInt64:
      return "u64";
    case DType::Float16:
      return "f16";
    case DType::BFloat16:
      return "bf16";
    case DType::Float64:
      return "f64";
    default:
      return "";
  }
}

// With a point or an exponent, so that it is read as a float.
std::string float_text(double value, DType dtype) {
  std::string text = dtype == DType::Float64 ? fmt::format("{}", value)
                                             : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string rows(const Tensor& tensor, std::size_t axis, std::int64_t& place) {
  if (axis == tensor.rank()) {
    const std::uint64_t bits = tensor.bits_at(place++);
    if (lang::is_int(tensor.dtype()) && size_of(tensor.dtype()) == 8) {
      if (tensor.dtype() == DType::UInt64) return fmt::format("{}u64", bits);
      const auto value = lang::int_from_bits(tensor.dtype(), bits);
      if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807i64 - 1)";
      return fmt::format("{}i64", value);
    }
    return literal(lang::double_from_bits(tensor.dtype(), bits), tensor.dtype());
  }
  std::vector<std::string> texts;
  for (std::int64_t k = 0; k < tensor.shape()[axis]; ++k)
    texts.push_back(rows(tensor, axis + 1, place));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace

const lang::TensorType& Value::tensor() const {
  const auto* found = lang::as<lang::TensorType>(type);
  if (!found) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: a value that is no tensor, `{}`", name));
  }
  if (!found->shape.has_rank() || !found->dtype.is_known())
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: the rank of `{}` is not known", name));
  return *found;
}

Value constant_value(std::string name, lang::TensorRef tensor) {
  Value value{.name = std::move(name), .text = {}, .type = nullptr};
  std::vector<Dim> dims(tensor->shape().begin(), tensor->shape().end());
  value.type = lang::tensor_type(lang::Shape(std::move(dims)), tensor->dtype());
  if (fits_elements(*tensor)) {
    value.elements.emplace();
    for (std::int64_t k = 0; k < tensor->element_count(); ++k)
      value.elements->push_back(lang::int_from_bits(tensor->dtype(), tensor->bits_at(k)));
  }
  value.constant = std::move(tensor);
  return value;
}

Value elements_value(std::string name, std::vector<Dim> elements, bool is_scalar, DType dtype) {
  bool is_constant = true;
  for (const Dim& each : elements) is_constant = is_constant && each.is_constant();
  if (is_constant) {
    const auto extent = static_cast<std::int64_t>(elements.size());
    lang::TensorRef tensor = is_scalar ? Tensor::make(dtype, {}) : Tensor::make(dtype, {extent});
    for (std::int64_t k = 0; k < extent; ++k)
      tensor->set_bits(
          k, lang::bits_from_int(dtype, elements[static_cast<std::size_t>(k)].constant()));
    return constant_value(std::move(name), std::move(tensor));
  }
  Value value{.name = std::move(name), .text = {}, .type = nullptr};
  lang::Shape shape;
  if (!is_scalar) shape = lang::Shape({Dim(static_cast<std::int64_t>(elements.size()))});
  value.type = lang::tensor_type(shape, dtype);
  value.text = is_scalar ? elements.front().to_string() : list_text(elements);
  if (dtype != DType::Int64)
    value.text = fmt::format("cast({}, dtype={})", value.text, dtype_text(dtype));
  else if (is_scalar)
    value.text = fmt::format("({})", value.text);
  value.elements = std::move(elements);
  return value;
}

bool are_few(const std::vector<Dim>& elements) {
  constexpr std::size_t kMostTerms = 16;
  const auto is_short = [](const Dim& dim) {
    return dim.terms().size() <= kMostTerms &&
           std::all_of(dim.terms().begin(), dim.terms().end(),
                       [](const Dim::Term& term) { return term.atoms.size() <= kMostTerms; });
  };
  return elements.size() <= static_cast<std::size_t>(kMostElements) &&
         std::all_of(elements.begin(), elements.end(), is_short);
}

std::optional<std::vector<std::int64_t>> integers_of(const Value& value) {
  if (!value.constant || !value.elements) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const Dim& each : *value.elements) result.push_back(each.constant());
  return result;
}

std::optional<std::vector<double>> numbers_of(const Value& value) {
  if (!value.constant || value.constant->element_count() > kMostElements) return std::nullopt;
  std::vector<double> result;
  for (std::int64_t k = 0; k < value.constant->element_count(); ++k)
    result.push_back(value.constant->number_at(k));
  return result;
}

std::string literal(double value, DType dtype) {
  if (dtype == DType::Bool) return value != 0 ? "True" : "False";
  if (lang::is_int(dtype))
    return fmt::format("{}{}", static_cast<std::int64_t>(value), suffix_of(dtype));
  if (std::isnan(value) || std::isinf(value)) {
    const std::string_view text = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    if (dtype == DType::Float32) return std::string(text);
    return fmt::format("cast({}, dtype={})", text, dtype_text(dtype));
  }
  return float_text(value, dtype) + std::string(suffix_of(dtype));
}

std::string literal(const Tensor& tensor) {
  if (tensor.element_count() == 0) {
    return fmt::format("zeros(shape={}, dtype={})", list_text(tensor.shape()),
                       dtype_text(tensor.dtype()));
  }
  const std::int64_t count = tensor.element_count();
  bool are_same = count > 4;
  for (std::int64_t k = 1; are_same && k < count; ++k)
    are_same = tensor.bits_at(k) == tensor.bits_at(0);
  if (are_same) {
    const std::string rest =
        fmt::format("shape={}, dtype={}", list_text(tensor.shape()), dtype_text(tensor.dtype()));
    if (tensor.bits_at(0) == 0) return fmt::format("zeros({})", rest);
    return fmt::format("full({}, {})", literal(tensor.number_at(0), tensor.dtype()), rest);
  }
  std::int64_t place = 0;
  return rows(tensor, 0, place);
}

std::string list_text(const std::vector<Dim>& dims) {
  std::vector<std::string> texts;
  for (const Dim& each : dims) texts.push_back(each.to_string());
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string list_text(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string dtype_text(DType dtype) { return fmt::format("\"{}\"", lang::name_of(dtype)); }

}  // namespace relay::models::onnx
