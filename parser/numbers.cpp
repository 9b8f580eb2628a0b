#include "parser/numbers.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "lang/tensor.h"

namespace relay::parser {
namespace {

using lang::DiagnosticKind;
using lang::DType;
using lang::Failure;
using lang::Span;

struct Parts {
  std::string_view mantissa;
  std::string_view suffix;  // `f16`, `i`, ...
  bool negative = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) {
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return !text.empty();
}

// Where the light notation's suffix begins: after digits, fraction and exponent.
std::size_t light_suffix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && (is_digit(text[i]) || text[i] == '.')) ++i;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t j = i + 1;
    if (j < text.size() && (text[j] == '+' || text[j] == '-')) ++j;
    if (j < text.size() && is_digit(text[j])) {
      while (j < text.size() && is_digit(text[j])) ++j;
      return j;
    }
  }
  return i;
}

Parts split(std::string_view text, bool negative, bool strict) {
  Parts parts;
  parts.negative = negative;
  while (text.starts_with('-')) {
    parts.negative = !parts.negative;
    text.remove_prefix(1);
  }
  std::size_t suffix;
  if (text.starts_with("inf") || text.starts_with("nan")) {
    suffix = 3;
  } else {
    suffix = strict ? text.find_first_of("fi") : light_suffix(text);
  }
  parts.mantissa = text.substr(0, suffix);
  if (suffix < text.size()) parts.suffix = text.substr(suffix);
  return parts;
}

std::optional<DType> dtype_of_suffix(std::string_view suffix, bool strict) {
  struct Row {
    std::string_view suffix;
    DType dtype;
    bool strict;
  };
  static constexpr Row kRows[] = {
      {"f", DType::Float32, true},   {"f16", DType::Float16, true},
      {"f32", DType::Float32, true}, {"f64", DType::Float64, true},
      {"i", DType::Int32, true},     {"i16", DType::Int16, true},
      {"i32", DType::Int32, true},   {"i64", DType::Int64, true},
      {"i8", DType::Int8, false},    {"u8", DType::UInt8, false},
      {"u16", DType::UInt16, false}, {"u32", DType::UInt32, false},
      {"u64", DType::UInt64, false}, {"bf16", DType::BFloat16, false},
  };
  for (const Row& row : kRows) {
    if (row.suffix == suffix && (row.strict || !strict)) return row.dtype;
  }
  return std::nullopt;
}

[[noreturn]] void out_of_range(std::string_view text, bool negative, std::string_view dtype,
                               Span span) {
  const bool signed_already = text.starts_with('-');
  lang::fail(
      DiagnosticKind::LiteralOutOfRange,
      fmt::format("`{}{}` does not fit in {}", negative && !signed_already ? "-" : "", text, dtype),
      span);
}

template <class T>
std::optional<T> to_float(std::string_view text) {
  T value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (stop != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {  // too large, or so small that it is zero
    return static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 65504.0;
    case DType::BFloat16:
      return 3.3895313892515355e38;
    case DType::Float32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

// `0x1F`, `0b101`, `0o17` and `1_000` of other languages, in our digits.
std::optional<std::string> in_plain_digits(std::string_view text, bool strict) {
  std::string digits(text);
  std::erase(digits, '_');
  const char radix = digits.size() > 2 && digits[0] == '0' ? digits[1] : '\0';
  const int base = radix == 'x' || radix == 'X'   ? 16
                   : radix == 'b' || radix == 'B' ? 2
                   : radix == 'o' || radix == 'O' ? 8
                                                  : 10;
  const char* const end = digits.data() + digits.size();
  if (base == 10) {
    double value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    const bool is_number = error == std::errc() && digits.size() < text.size() &&
                           (stop == end || dtype_of_suffix({stop, end}, strict));
    return is_number ? std::optional(digits) : std::nullopt;
  }
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data() + 2, end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return std::to_string(value);
}

[[noreturn]] void bad_number(std::string_view text, const Parts& parts, bool strict, Span span) {
  lang::Diagnostic diagnostic(DiagnosticKind::BadNumber, fmt::format("`{}` is not a number", text),
                              span);
  if (strict && parts.suffix.empty() && to_float<double>(parts.mantissa)) {
    diagnostic.message = fmt::format("`{}` is not an integer", text);
    diagnostic.note(fmt::format("help: a float ends in `f`: `{}f`", text));
  } else if (strict && parts.mantissa.find_first_of("+-") != std::string_view::npos) {
    diagnostic.message = fmt::format("`{}` is read as one number", text);
    diagnostic.note("help: put spaces around the operator");
  } else if (!parts.suffix.empty() && !dtype_of_suffix(parts.suffix, strict)) {
    diagnostic.message =
        fmt::format("`{}` has the suffix `{}`, which names no dtype", text, parts.suffix);
    if (const auto plain = in_plain_digits(text, strict))
      diagnostic.note(fmt::format("help: numbers have decimal digits alone: `{}`", *plain));
  } else if (!parts.suffix.empty()) {
    diagnostic.message = fmt::format("`{}` has the suffix of an integer, but is none", text);
  }
  throw Failure(std::move(diagnostic));
}

NumberValue read_float(std::string_view text, const Parts& parts, DType dtype, bool strict,
                       Span span) {
  NumberValue value;
  value.is_float = true;
  value.dtype = dtype;
  if (parts.mantissa == "inf" || parts.mantissa == "nan") {
    value.real = parts.mantissa == "inf" ? std::numeric_limits<double>::infinity()
                                         : std::numeric_limits<double>::quiet_NaN();
    if (parts.negative) value.real = -value.real;
    value.bits = lang::bits_from_double(dtype, value.real);
    return value;
  }
  const std::optional<double> exact = to_float<double>(parts.mantissa);
  if (!exact) bad_number(text, parts, strict, span);
  if (*exact > largest(dtype)) {
    // A float32 is rounded from the text itself, so that what prints as the largest one reads back.
    const bool rounds_down =
        dtype == DType::Float32 && std::isfinite(*to_float<float>(parts.mantissa));
    if (!rounds_down) out_of_range(text, parts.negative, lang::name_of(dtype), span);
  }
  const std::string_view digits = parts.mantissa.substr(0, parts.mantissa.find_first_of("eE"));
  const bool was_zero = digits.find_first_of("123456789") == std::string_view::npos;
  if (!strict && !was_zero && (*exact == 0 || !lang::can_represent(dtype, *exact)))
    out_of_range(text, parts.negative, lang::name_of(dtype), span);
  value.real = parts.negative ? -*exact : *exact;
  if (dtype == DType::Float32) {
    const float rounded = *to_float<float>(parts.mantissa);
    value.bits = std::bit_cast<std::uint32_t>(parts.negative ? -rounded : rounded);
  } else {
    value.bits = lang::bits_from_double(dtype, value.real);
  }
  return value;
}

// Magnitude and sign as int64; false if it does not fit.
bool to_int(std::string_view digits, bool negative, std::int64_t& out) {
  std::uint64_t magnitude = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (error != std::errc() || stop != digits.data() + digits.size()) return false;
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (magnitude > (negative ? limit : limit - 1)) return false;
  out = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

bool fits(std::int64_t value, DType dtype) {
  if (lang::is_unsigned_int(dtype)) {
    return value >= 0 &&
           (dtype == DType::UInt64 || value < (std::int64_t{1} << lang::bits_of(dtype)));
  }
  if (dtype == DType::Int64) return true;
  const std::int64_t limit = std::int64_t{1} << (lang::bits_of(dtype) - 1);
  return value >= -limit && value < limit;
}

NumberValue read_integer(std::string_view text, const Parts& parts, std::optional<DType> dtype,
                         bool strict, Span span) {
  if (!all_digits(parts.mantissa)) bad_number(text, parts, strict, span);
  NumberValue value;
  if (dtype == DType::UInt64 && !parts.negative) {  // the upper half fits only here
    std::uint64_t magnitude = 0;
    const auto result = std::from_chars(parts.mantissa.data(),
                                        parts.mantissa.data() + parts.mantissa.size(), magnitude);
    if (result.ec != std::errc()) out_of_range(text, false, "uint64", span);
    value.dtype = dtype;
    value.bits = magnitude;
    value.integer = static_cast<std::int64_t>(magnitude);
    return value;
  }
  if (!to_int(parts.mantissa, parts.negative, value.integer)) {
    out_of_range(text, parts.negative, dtype ? lang::name_of(*dtype) : "int64", span);
  }
  if (!dtype && strict) dtype = fits(value.integer, DType::Int32) ? DType::Int32 : DType::Int64;
  if (dtype && !fits(value.integer, *dtype))
    out_of_range(text, parts.negative, lang::name_of(*dtype), span);
  value.dtype = dtype;
  if (dtype) value.bits = lang::bits_from_int(*dtype, value.integer);
  return value;
}

}  // namespace

NumberValue read_number(std::string_view text, bool negative, bool strict, Span span) {
  const Parts parts = split(text, negative, strict);
  std::optional<DType> dtype;
  if (!parts.suffix.empty()) {
    dtype = dtype_of_suffix(parts.suffix, strict);
    if (!dtype) bad_number(text, parts, strict, span);
  }
  if (dtype && lang::is_float(*dtype)) return read_float(text, parts, *dtype, strict, span);
  const bool undecorated_float = !strict && !dtype && !all_digits(parts.mantissa);
  if (!undecorated_float) return read_integer(text, parts, dtype, strict, span);
  NumberValue value = read_float(text, parts, DType::Float64, strict, span);
  value.dtype.reset();
  return value;
}

std::int64_t read_digits(std::string_view text, Span span) {
  std::int64_t value = 0;
  if (!to_int(text, false, value)) out_of_range(text, false, "int64", span);
  return value;
}

}  // namespace relay::parser
