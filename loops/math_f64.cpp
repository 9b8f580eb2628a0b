#include "loops/math_f64.h"

#include <cmath>

namespace relay::loops::math_f64 {
namespace {

// The standard functions, and what the standard lacks.
namespace library {

using namespace std;  // NOLINT(google-build-using-namespace): for the names of the table alone

double rsqrt(double x) { return 1.0 / std::sqrt(x); }

// Never e^-x for negative x: it overflows where the result is still a denormal.
double sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));
  return (std::signbit(x) ? e : 1.0) / (1.0 + e);
}

}  // namespace library

constexpr Function row(lang::Prim prim, std::string_view name, Unary f) {
  return {prim, name, f, nullptr};
}
constexpr Function row(lang::Prim prim, std::string_view name, Binary f) {
  return {prim, name, nullptr, f};
}

constexpr Function kFunctions[] = {
#define RELAY_MATH(prim, function, arity, ulp) \
  row(lang::Prim::prim, #function, &math_f64::function),
#include "loops/math.def"
#undef RELAY_MATH
};

}  // namespace

#define RELAY_MATH_1(function) \
  double function(double x) { return library::function(x); }
#define RELAY_MATH_2(function) \
  double function(double x, double y) { return library::function(x, y); }
#define RELAY_MATH(prim, function, arity, ulp) RELAY_MATH_##arity(function)
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_MATH_1
#undef RELAY_MATH_2

std::span<const Function> functions() { return kFunctions; }

const Function* find(lang::Prim prim) {
  for (const Function& f : kFunctions) {
    if (f.prim == prim) return &f;
  }
  return nullptr;
}

}  // namespace relay::loops::math_f64
