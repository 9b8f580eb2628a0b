#include <cmath>

#include "lang/number_text.h"
#include "lang/print.h"
#include "lang/print_scopes.h"

namespace relay::lang {
namespace {

// The dtype whose literals an element of `dtype` can be written with; the rest is a cast.
DType literal_dtype(DType dtype) {
  switch (dtype) {
    case DType::Int8:
    case DType::UInt8:
    case DType::UInt16:
      return DType::Int32;
    case DType::UInt32:
    case DType::UInt64:
      return DType::Int64;
    case DType::BFloat16:
      return DType::Float32;
    default:
      return dtype;
  }
}

std::uint64_t convert_bits(DType from, DType to, std::uint64_t bits) {
  if (from == to) return bits;
  if (is_float(from)) return bits_from_double(to, double_from_bits(from, bits));
  return bits_from_int(to, int_from_bits(from, bits));
}

// How elements are written: with their dtype, without it where a finite one reads back, or never
// with it.
enum class Elements : std::uint8_t { Decorated, PlainIfFinite, Plain };

// Rows in brackets, from element `*next` on.
void append_rows(std::string& text, const Tensor& tensor, DType dtype, Elements how,
                 std::size_t axis, std::int64_t* next) {
  if (axis == tensor.rank()) {
    const std::uint64_t bits = convert_bits(tensor.dtype(), dtype, tensor.bits_at((*next)++));
    const bool is_finite = !is_float(dtype) || std::isfinite(double_from_bits(dtype, bits));
    const bool is_plain = how == Elements::Plain || (how == Elements::PlainIfFinite && is_finite);
    text += !is_plain         ? print_scalar(dtype, bits)
            : is_float(dtype) ? float_text(dtype, bits, true)
                              : element_text(dtype, bits);
    return;
  }
  text += "[";
  for (std::int64_t i = 0; i < tensor.shape()[axis]; ++i) {
    if (i) text += ", ";
    append_rows(text, tensor, dtype, how, axis + 1, next);
  }
  text += "]";
}

}  // namespace

std::string print_constant(const Tensor& tensor, bool is_light) {
  if (tensor.rank() == 0) return print_scalar(tensor.dtype(), tensor.bits_at(0));
  const std::string dtype_text = "dtype=\"" + std::string(name_of(tensor.dtype())) + "\")";
  if (tensor.element_count() == 0) {
    return "zeros(shape=" + AttrValue::ints(tensor.shape()).to_string() + ", " + dtype_text;
  }
  const DType dtype = literal_dtype(tensor.dtype());
  std::string text;
  std::int64_t next = 0;
  const bool is_plain = is_light && (dtype == DType::Float32 || dtype == DType::Int32);
  append_rows(text, tensor, dtype, is_plain ? Elements::PlainIfFinite : Elements::Decorated, 0,
              &next);
  return dtype == tensor.dtype() ? text : "cast(" + text + ", " + dtype_text;
}

bool has_strict_literal(const Tensor& tensor) {
  if (tensor.rank() != 0) return false;
  switch (tensor.dtype()) {
    case DType::Bool:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
      return true;
    case DType::Float32:
      return !std::isnan(tensor.number_at(0));  // infinity is `inff`
    case DType::Float16:
    case DType::Float64:
      return std::isfinite(tensor.number_at(0));
    default:
      return false;
  }
}

std::string float_literal(double value) {
  return float_text(DType::Float64, bits_from_double(DType::Float64, value), true);
}

namespace {

// The elements in their default dtype, or in the wider one that holds them.
TensorRef default_elements(const Tensor& elements) {
  const bool are_floats = elements.dtype() == DType::Float64;
  DType dtype = are_floats ? DType::Float32 : DType::Int32;
  for (std::int64_t i = 0; i < elements.element_count(); ++i) {
    const std::uint64_t bits = elements.bits_at(i);
    const std::int64_t integer = are_floats ? 0 : int_from_bits(DType::Int64, bits);
    const bool fits = are_floats ? can_represent(DType::Float32, elements.number_at(i))
                                 : integer == static_cast<std::int32_t>(integer);
    if (!fits) dtype = elements.dtype();
  }
  const TensorRef result = Tensor::make(dtype, elements.shape());
  for (std::int64_t i = 0; i < elements.element_count(); ++i)
    result->set_bits(i, convert_bits(elements.dtype(), dtype, elements.bits_at(i)));
  return result;
}

}  // namespace

std::string print_literal(const Literal& literal, bool is_light) {
  if (!literal.elements)
    return literal.is_float ? float_literal(literal.real) : std::to_string(literal.integer);
  if (!is_light) return print_constant(*default_elements(*literal.elements));
  std::string text;
  std::int64_t next = 0;
  append_rows(text, *literal.elements, literal.elements->dtype(), Elements::Plain, 0, &next);
  return text;
}

}  // namespace relay::lang
