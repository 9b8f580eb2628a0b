#pragma once

#include <span>
#include <string_view>

#include "lang/primitive.h"

// The float64 math functions, complete: the templates of loops/math64.h, one lane at a time, and
// what those leave out, sines of large angles. No library's function is behind them, so that the
// bits depend on no machine.
namespace relay::loops::math_f64 {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

// double exp(double), ..., double pow(double, double)
#define RELAY_MATH_PARAMETERS_1 double
#define RELAY_MATH_PARAMETERS_2 double, double
#define RELAY_MATH(prim, function, arity, ...) double function(RELAY_MATH_PARAMETERS_##arity);
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_MATH_PARAMETERS_1
#undef RELAY_MATH_PARAMETERS_2

struct Function {
  lang::Prim prim;
  std::string_view name;  // "exp"
  Unary unary = nullptr;  // exactly one of the two is set
  Binary binary = nullptr;
};

// One for each row of loops/math.def, in its order.
std::span<const Function> functions();

// Null if `prim` has no row.
const Function* find(lang::Prim prim);

}  // namespace relay::loops::math_f64
