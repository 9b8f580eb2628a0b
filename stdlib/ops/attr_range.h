#pragma once

#include <cstdint>
#include <string>

#include "stdlib/ops/types.h"

namespace relay::stdlib {

// No extent, stride, block or displacement is larger: products of two of these, and sums of many,
// do not overflow.
inline constexpr std::int64_t kLargestCount = (std::int64_t{1} << 31) - 1;

// An attribute that counts something. Throws BadAttribute unless it is from `least` to
// kLargestCount.
inline std::int64_t count_attr(const lang::TypeCall& call, const char* key, std::int64_t least) {
  const std::int64_t count = call.attrs->get_int(key);
  const std::string name = "`" + std::string(key) + "`";
  if (count < least) bad_attribute(call, name + " must be at least " + std::to_string(least));
  if (count > kLargestCount)
    bad_attribute(call, name + " must be at most " + std::to_string(kLargestCount));
  return count;
}

// An attribute that is a list of such. Throws BadAttribute if one is more than kLargestCount.
inline void check_largest(const lang::TypeCall& call, const char* key) {
  for (const std::int64_t count : call.attrs->get_ints(key)) {
    if (count <= kLargestCount) continue;
    bad_attribute(call, "`" + std::string(key) + "` must be at most " +
                            std::to_string(kLargestCount) + ", found " + std::to_string(count));
  }
}

}  // namespace relay::stdlib
