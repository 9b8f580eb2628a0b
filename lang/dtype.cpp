#include "lang/dtype.h"

#include <array>
#include <bit>

namespace relay::lang {
namespace {

struct DTypeInfo {
  std::string_view name;
  std::uint8_t bytes;
  std::uint8_t bits;
};
constexpr std::array<DTypeInfo, kDTypeCount> kDTypes = {{
    {"bool", 1, 1},
    {"int8", 1, 8},
    {"int16", 2, 16},
    {"int32", 4, 32},
    {"int64", 8, 64},
    {"uint8", 1, 8},
    {"uint16", 2, 16},
    {"uint32", 4, 32},
    {"uint64", 8, 64},
    {"float16", 2, 16},
    {"bfloat16", 2, 16},
    {"float32", 4, 32},
    {"float64", 8, 64},
}};

constexpr std::uint32_t kFloatInfinity = 0x7f800000;
constexpr std::uint32_t kFloatAbsolute = 0x7fffffff;

}  // namespace

std::size_t size_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].bytes; }
std::string_view name_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].name; }
int bits_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)].bits; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  if (name == "uint1") return DType::Bool;
  return std::nullopt;
}

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  std::uint32_t magnitude = bits & kFloatAbsolute;
  if (magnitude > kFloatInfinity) {  // NaN: made quiet, upper payload kept
    return static_cast<std::uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  }
  if (magnitude >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7c00);  // 65536 and up
  const std::uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return static_cast<std::uint16_t>(sign);  // below 2^-25
  if (exponent < 113) {                                         // below 2^-14: a multiple of 2^-24
    const std::uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    const std::uint32_t shift = 126 - exponent;
    const std::uint32_t rest = mantissa & ((1u << shift) - 1);
    const std::uint32_t tie = 1u << (shift - 1);
    std::uint32_t units = mantissa >> shift;
    if (rest > tie || (rest == tie && (units & 1))) ++units;
    return static_cast<std::uint16_t>(sign | units);
  }
  magnitude += 0xfff + ((magnitude >> 13) & 1);  // a carry reaches the exponent, up to infinity
  return static_cast<std::uint16_t>(sign | ((magnitude - (112u << 23)) >> 13));
}

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1f;
  const std::uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0) {  // zero or denormal: exact in float
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & kFloatAbsolute) > kFloatInfinity) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  }
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace relay::lang
