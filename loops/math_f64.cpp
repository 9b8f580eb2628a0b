#include "loops/math_f64.h"

#include <cmath>

#include "loops/fused.h"
#include "loops/large_angle.h"
#include "loops/math64.h"
#include "loops/math_native.h"

namespace relay::loops::math_f64 {
namespace {

using lang::Prim;
using Target = math::NativeF64;

constexpr Function row(Prim prim, std::string_view name, Unary f) {
  return {prim, name, f, nullptr};
}
constexpr Function row(Prim prim, std::string_view name, Binary f) {
  return {prim, name, nullptr, f};
}

constexpr Function kFunctions[] = {
#define RELAY_MATH(prim, function, ...) row(Prim::prim, #function, &math_f64::function),
#include "loops/math.def"
#undef RELAY_MATH
};

// The functions of an angle that is too large for math64. The sine is odd, and so is the tangent.
[[gnu::noinline]] double large_angle(Prim prim, double x) {
  if (!std::isfinite(x)) return x - x;
  const LargeAngle angle = reduce_large_angle(std::fabs(x));
  const math64::detail::Turned<Target> turned{angle.high, angle.low, angle.quarters};
  Target t;
  if (prim == Prim::Cos) return math64::detail::sine_of_turned(t, turned, 1);
  const double result = prim == Prim::Sin ? math64::detail::sine_of_turned(t, turned, 0)
                                          : math64::detail::tangent_of_turned(t, turned);
  return std::signbit(x) ? -result : result;
}

}  // namespace

#define RELAY_MATH_BODY(function, arguments) \
  Target t;                                  \
  return math64::function arguments;
#define RELAY_MATH_1(prim, function)                                                              \
  RELAY_FUSED static double fused_##function(double x) { RELAY_MATH_BODY(function, (t, x)) }      \
  [[gnu::flatten]] static double plain_##function(double x) { RELAY_MATH_BODY(function, (t, x)) } \
  double function(double x) {                                                                     \
    constexpr double kLargest = math64::largest_argument(Prim::prim);                             \
    if (std::fabs(x) > kLargest) return large_angle(Prim::prim, x);                               \
    return cpu_fuses() ? fused_##function(x) : plain_##function(x);                               \
  }
#define RELAY_MATH_2(prim, function)                                      \
  RELAY_FUSED static double fused_##function(double x, double y) {        \
    RELAY_MATH_BODY(function, (t, x, y))                                  \
  }                                                                       \
  [[gnu::flatten]] static double plain_##function(double x, double y) {   \
    RELAY_MATH_BODY(function, (t, x, y))                                  \
  }                                                                       \
  double function(double x, double y) {                                   \
    return cpu_fuses() ? fused_##function(x, y) : plain_##function(x, y); \
  }
#define RELAY_MATH(prim, function, arity, ...) RELAY_MATH_##arity(prim, function)
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_MATH_1
#undef RELAY_MATH_2
#undef RELAY_MATH_BODY

std::span<const Function> functions() { return kFunctions; }

const Function* find(Prim prim) {
  for (const Function& f : kFunctions) {
    if (f.prim == prim) return &f;
  }
  return nullptr;
}

}  // namespace relay::loops::math_f64
