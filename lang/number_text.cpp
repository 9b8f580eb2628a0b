#include "lang/number_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "lang/tensor.h"

namespace relay::lang {
namespace {

// `d.ddde+XX` with the fewest digits.
std::string scientific(DType dtype, std::uint64_t bits) {
  char buffer[64];
  char* const end = buffer + sizeof(buffer);
  if (dtype == DType::Float64) {
    const auto r =
        std::to_chars(buffer, end, std::bit_cast<double>(bits), std::chars_format::scientific);
    return {buffer, r.ptr};
  }
  if (dtype == DType::Float32) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const auto r = std::to_chars(buffer, end, value, std::chars_format::scientific);
    return {buffer, r.ptr};
  }
  const double value = double_from_bits(dtype, bits);
  for (int precision = 0;; ++precision) {  // ends: five digits tell any two halves apart
    const auto r = std::to_chars(buffer, end, value, std::chars_format::scientific, precision);
    double back = 0;
    std::from_chars(buffer, r.ptr, back);
    if (precision == 8 || bits_from_double(dtype, back) == bits) return {buffer, r.ptr};
  }
}

}  // namespace

std::string float_text(DType dtype, std::uint64_t bits, bool point) {
  const double value = double_from_bits(dtype, bits);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const std::string text = scientific(dtype, bits);
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return text;

  std::string out;
  std::string digits;
  for (const char c : std::string_view(text).substr(0, e)) {
    if (c == '-') {
      out += c;
    } else if (c != '.') {
      digits += c;
    }
  }
  const int count = static_cast<int>(digits.size());
  if (exponent < 0) return out + "0." + std::string(-exponent - 1, '0') + digits;
  if (count <= exponent + 1) {
    return out + digits + std::string(exponent + 1 - count, '0') + (point ? ".0" : "");
  }
  return out + digits.substr(0, exponent + 1) + "." + digits.substr(exponent + 1);
}

std::string element_text(DType dtype, std::uint64_t bits) {
  if (dtype == DType::Bool) return bits ? "True" : "False";
  if (dtype == DType::UInt64) return std::to_string(bits);
  if (is_int(dtype)) return std::to_string(int_from_bits(dtype, bits));
  return float_text(dtype, bits, true);
}

}  // namespace relay::lang
