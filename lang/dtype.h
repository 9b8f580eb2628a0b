#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace relay::lang {

enum class DType : std::uint8_t {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};
inline constexpr int kDTypeCount = 13;

std::size_t size_of(DType dtype);                         // bytes per element
std::string_view name_of(DType dtype);                    // "float32"
std::optional<DType> parse_dtype(std::string_view name);  // also "uint1" for bool
inline bool is_float(DType d) { return d >= DType::Float16; }
inline bool is_int(DType d) { return d >= DType::Int8 && d <= DType::UInt64; }
inline bool is_signed_int(DType d) { return d >= DType::Int8 && d <= DType::Int64; }
inline bool is_unsigned_int(DType d) { return d >= DType::UInt8 && d <= DType::UInt64; }
int bits_of(DType dtype);  // 1 for bool

// IEEE half and bfloat16 as bits, rounded to nearest even.
std::uint16_t float_to_half(float value);
float half_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat16(float value);
float bfloat16_to_float(std::uint16_t bits);

}  // namespace relay::lang
