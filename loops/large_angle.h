#pragma once

#include <cstdint>

namespace relay::loops {

// x = quarters * pi / 2 + high + low, with |high| at most pi / 4 and a little; `quarters` is right
// modulo 4, the sum to 2^-63 of itself.
struct LargeAngle {
  double high, low;
  std::int64_t quarters;
};

// For finite x of at least 2^16. Some 20 ns: integers throughout, as in Payne and Hanek's method.
LargeAngle reduce_large_angle(double x);

}  // namespace relay::loops
