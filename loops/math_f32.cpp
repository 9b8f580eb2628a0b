#include "loops/math_f32.h"

#include "loops/fused.h"
#include "loops/math.h"
#include "loops/math_native.h"

namespace relay::loops::math_f32 {

#define RELAY_MATH_BODY(function, arguments) \
  math::NativeF32 t;                         \
  return math::function arguments;
#define RELAY_MATH_1(function)                                                                  \
  RELAY_FUSED static float fused_##function(float x) { RELAY_MATH_BODY(function, (t, x)) }      \
  [[gnu::flatten]] static float plain_##function(float x) { RELAY_MATH_BODY(function, (t, x)) } \
  float function(float x) { return cpu_fuses() ? fused_##function(x) : plain_##function(x); }
#define RELAY_MATH_2(function)                                            \
  RELAY_FUSED static float fused_##function(float x, float y) {           \
    RELAY_MATH_BODY(function, (t, x, y))                                  \
  }                                                                       \
  [[gnu::flatten]] static float plain_##function(float x, float y) {      \
    RELAY_MATH_BODY(function, (t, x, y))                                  \
  }                                                                       \
  float function(float x, float y) {                                      \
    return cpu_fuses() ? fused_##function(x, y) : plain_##function(x, y); \
  }
#define RELAY_MATH(prim, function, arity, ...) RELAY_MATH_##arity(function)
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_MATH_1
#undef RELAY_MATH_2
#undef RELAY_MATH_BODY

}  // namespace relay::loops::math_f32
