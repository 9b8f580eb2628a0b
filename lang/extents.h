#pragma once

#include <cstdint>
#include <optional>
#include <span>

// Arithmetic of shapes and sizes: nothing wraps. No value: the result does not fit into an int64.
namespace relay::lang {

inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}
inline std::optional<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}
inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Of extents, none negative; 1 of none, and 0 where one is 0, whatever the others are.
inline std::optional<std::int64_t> product_of(std::span<const std::int64_t> extents) {
  for (const std::int64_t extent : extents) {
    if (extent == 0) return 0;
  }
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return product;
}

}  // namespace relay::lang
