#pragma once

// The float32 math functions of loops/math.h, one at a time.
namespace relay::loops::math_f32 {

// float exp(float), ..., float pow(float, float)
#define RELAY_MATH_PARAMETERS_1 float
#define RELAY_MATH_PARAMETERS_2 float, float
#define RELAY_MATH(prim, function, arity, ...) float function(RELAY_MATH_PARAMETERS_##arity);
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_MATH_PARAMETERS_1
#undef RELAY_MATH_PARAMETERS_2

}  // namespace relay::loops::math_f32
