#include "loops/math64.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "loops/math_f64.h"
#include "loops/math_native.h"

// The float64 functions against the long double of x86, whose 11 bits more make its own error
// nothing.
namespace relay::loops {
namespace {

using Exact = long double;
constexpr bool kHasReference = std::numeric_limits<Exact>::digits >= 64;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kDenormal = std::numeric_limits<double>::denorm_min();

// Under sanitizers a sample, or the tests would take minutes.
#ifdef NDEBUG
constexpr int kSamples = 400'000;
constexpr int kNeighbours = 200;
#else
constexpr int kSamples = 10'000;
constexpr int kNeighbours = 5;
#endif

double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// The distance to the exact result in units in the last place of float64, or infinity where the
// kinds differ: NaN for a number, one zero for the other. An infinity counts as 2^1024.
double ulp_error(double result, Exact exact) {
  constexpr Exact kBeyond = 0x1p1024L;
  if (std::isnan(exact)) return std::isnan(result) ? 0 : kInf;
  if (exact == 0 && result == 0) return std::signbit(result) == std::signbit(exact) ? 0 : kInf;
  if (std::isinf(exact)) return Exact{result} == exact ? 0 : kInf;
  const Exact seen = std::isinf(result) ? std::copysign(kBeyond, Exact{result}) : Exact{result};
  const Exact wanted = std::clamp(exact, -kBeyond, kBeyond);
  int exponent = 0;
  std::frexp(wanted, &exponent);
  const Exact unit = std::ldexp(1.0L, std::clamp(exponent, -1021, 1024) - 53);
  const Exact error = std::fabs(seen - wanted) / unit;
  return std::isnan(error) ? kInf : static_cast<double>(error);
}

struct Worst {
  double ulp = 0;
  double at = 0;
  void add(double x, double result, Exact exact) {
    const double error = ulp_error(result, exact);
    if (error > ulp) *this = {error, x};
  }
};

// The standard functions, and what the standard lacks.
namespace reference {

using namespace std;  // NOLINT(google-build-using-namespace): for the names of the table alone

Exact rsqrt(Exact x) { return 1 / std::sqrt(x); }

// Never e^-x for negative x: it overflows where the result is still a denormal.
Exact sigmoid(Exact x) {
  const Exact e = std::exp(-std::fabs(x));
  return (std::signbit(x) ? e : 1) / (1 + e);
}

}  // namespace reference

// Where something happens: thresholds, zeros, poles, ends of ranges.
constexpr double kSpecialPoints[] = {0,
                                     kDenormal,
                                     1e-310,
                                     0x1p-1022,
                                     1e-100,
                                     0x1p-60,
                                     0x1p-54,
                                     0x1p-53,
                                     0x1p-52,
                                     0x1p-28,
                                     0x1p-27,
                                     0.01,
                                     0.25,
                                     0.34658,
                                     0.4375,
                                     0.41421356237309503,
                                     0.5,
                                     0.6875,
                                     0.70710678118654752,
                                     0.78539816339744831,
                                     1,
                                     1.0397,
                                     1.4142135623730951,
                                     1.5707963267948966,
                                     2.4142135623730951,
                                     3.1415926535897931,
                                     4,
                                     5.93,
                                     6,
                                     6.2831853071795862,
                                     10,
                                     18.5,
                                     19.0615,
                                     20,
                                     22,
                                     36.7368,
                                     37.4299,
                                     40,
                                     64,
                                     709.436,
                                     709.78271289338397,
                                     710.1,
                                     710.4758600739439,
                                     711,
                                     744.44,
                                     745.13321910194122,
                                     746,
                                     750,
                                     99999.5,
                                     1e5,
                                     102943,
                                     1e6,
                                     0x1p31,
                                     1e10,
                                     0x1p51,
                                     0x1p52,
                                     0x1p53,
                                     0x1p54,
                                     0x1p60,
                                     1e22,
                                     0x1p500,
                                     0x1p511,
                                     0x1p512,
                                     8.98e307,
                                     0x1p1023,
                                     kMax};

// Ranges that are looked at more closely, the sign either way.
constexpr double kRanges[] = {1, 2, 8, 25, 50, 750, 1e5, 1e9};

template <class F, class Reference>
Worst worst_error(F f, Reference exact) {
  Worst worst;
  const auto check = [&](double x) { worst.add(x, f(x), exact(Exact{x})); };
  std::mt19937_64 random(20240607);
  for (int i = 0; i < kSamples / 2; ++i) check(from_bits(random()));
  for (const double range : kRanges) {
    std::uniform_real_distribution<double> uniform(-range, range);
    for (int i = 0; i < kSamples / 4; ++i) check(uniform(random));
  }
  for (const double point : kSpecialPoints) {
    const auto middle = std::bit_cast<std::uint64_t>(point);
    for (int i = -kNeighbours; i <= kNeighbours; ++i) {
      const double x = from_bits(middle + static_cast<std::uint64_t>(i));
      check(x);
      check(-x);
    }
  }
  // Near whole numbers of quarter turns, where sine or cosine loses all leading digits.
  for (int i = 1; i<70'000; i += kSamples> 100'000 ? 1 : 37) {
    const auto x = static_cast<double>(i * 1.57079632679489661923132169163975L);
    check(x);
    check(std::nextafter(x, 0.0));
    check(std::nextafter(x, kInf));
  }
  // Of all float64 the one nearest to such a number.
  check(6381956970095103.0 * 0x1p797);
  for (const double x : {kInf, -kInf, kNan, -kNan}) check(x);
  return worst;
}

#define RELAY_MATH_1(function, ulp_bound)                                               \
  TEST_CASE("float64 " #function " keeps its error bound", "[math]") {                  \
    if (!kHasReference) return;                                                         \
    const Worst worst = worst_error([](double x) { return math_f64::function(x); },     \
                                    [](Exact x) { return reference::function(x); });    \
    INFO("at " << std::hexfloat << worst.at << std::defaultfloat << " = " << worst.at); \
    CHECK(worst.ulp <= (ulp_bound));                                                    \
  }
#define RELAY_MATH_2(function, ulp_bound)
#define RELAY_MATH(prim, function, arity, ulp_bound, ulp_bound64) \
  RELAY_MATH_##arity(function, ulp_bound64)
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_MATH_1
#undef RELAY_MATH_2

TEST_CASE("float64 functions are all within 2 units in the last place", "[math]") {
#define RELAY_MATH(prim, function, arity, ulp_bound, ulp_bound64) CHECK((ulp_bound64) <= 2.0);
#include "loops/math.def"
#undef RELAY_MATH
}

constexpr double pow_bound() {
#define RELAY_MATH(prim, function, arity, ulp_bound, ulp_bound64) \
  if (lang::Prim::prim == lang::Prim::Pow) return ulp_bound64;
#include "loops/math.def"
#undef RELAY_MATH
  return 0;
}

// Whole numbers, halves, and everything that C's Annex F has a word on.
std::vector<double> pow_points() {
  std::vector<double> points = {
      0,      kDenormal,  0x1p-1022, 0x1p-1023, 0.5,          1 - 0x1p-53, 1,          1 + 0x1p-52,
      1.5,    2.5,        4097,      0x1p51,    0x1p51 + 0.5, 0x1p52,      0x1p52 + 1, 0x1p53 - 1,
      0x1p53, 0x1p53 + 2, 0x1p54,    0x1p100,   0x1p-100,     1e300,       1e-300,     kMax,
      kInf,   kNan,       1e-20,     0x1p-52,   0x1p70,       0x1p71};
  for (int i = 2; i <= 20; ++i) points.push_back(i);
  const std::size_t count = points.size();
  for (std::size_t i = 0; i < count; ++i) points.push_back(-points[i]);
  return points;
}

TEST_CASE("float64 pow is C's pow at the special points", "[math]") {
  if (!kHasReference) return;
  for (const double x : pow_points()) {
    for (const double y : pow_points()) {
      const double error = ulp_error(math_f64::pow(x, y), std::pow(Exact{x}, Exact{y}));
      if (error > pow_bound())
        FAIL_CHECK("pow(" << x << ", " << y << ") = " << math_f64::pow(x, y));
    }
  }
}

TEST_CASE("float64 pow keeps its error bound", "[math]") {
  if (!kHasReference) return;
  std::mt19937_64 random(20240607);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Worst any, in_range, near_one;
  const auto check = [](Worst& worst, double x, double y) {
    worst.add(x, math_f64::pow(x, y), std::pow(Exact{x}, Exact{y}));
  };
  for (int i = 0; i < kSamples; ++i) {
    check(any, from_bits(random()), from_bits(random()));
    // y such that the result lies within float64, or just outside.
    double x = std::exp2(uniform(-1074, 1024));
    check(in_range, x, uniform(-1080, 1026) / std::log2(x));
    x = 1 + uniform(-0x1p-8, 0x1p-8);
    check(near_one, x, uniform(-1080, 1026) / std::log2(x));
  }
  CHECK(any.ulp <= pow_bound());
  CHECK(in_range.ulp <= pow_bound());
  CHECK(near_one.ulp <= pow_bound());
}

TEST_CASE("float64 tanh, sigmoid and erf saturate and stay there", "[math]") {
  std::mt19937_64 random(20240607);
  long outside = 0, unsaturated = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double x = from_bits(random() >> 1);
    if (std::isnan(x)) continue;
    const double tanh = math_f64::tanh(x), erf = math_f64::erf(x);
    const double above = math_f64::sigmoid(x), below = math_f64::sigmoid(-x);
    outside += !(tanh >= 0 && tanh <= 1 && erf >= 0 && erf <= 1 && above >= 0.5 && above <= 1 &&
                 below >= 0 && below <= 0.5);
    unsaturated += !((x < 19.1 || tanh == 1) && (x < 6 || erf == 1) && (x < 37 || above == 1) &&
                     (x < 746 || same_bits(below, 0)));
  }
  CHECK(outside == 0);
  CHECK(unsaturated == 0);
}

TEST_CASE("float64 tanh and sigmoid are monotone where they saturate", "[math]") {
  const auto falls = [](math_f64::Unary f, double from, double to) {
    long count = 0;
    double last = f(from);
    for (double x = from; x < to; x += (to - from) / kSamples) {
      const double next = f(x);
      count += next < last;
      last = next;
    }
    return count;
  };
  CHECK(falls(&math_f64::tanh, 18, 20) == 0);
  CHECK(falls(&math_f64::sigmoid, 36, 38) == 0);
}

TEST_CASE("float64 odd functions are odd bit for bit", "[math]") {
  const math_f64::Unary odd[] = {
      &math_f64::sin,  &math_f64::tan,   &math_f64::asin,  &math_f64::atan, &math_f64::sinh,
      &math_f64::tanh, &math_f64::asinh, &math_f64::atanh, &math_f64::erf,  &math_f64::expm1};
  std::mt19937_64 random(20240607);
  for (const math_f64::Unary f : odd) {
    if (f == &math_f64::expm1) {
      CHECK_FALSE(same_bits(-f(1.0), f(-1.0)));  // the comparison sees a difference
      continue;
    }
    long uneven = 0;
    for (int i = 0; i < kSamples / 10; ++i) {
      const double x = from_bits(random()), y = f(x);
      uneven += !(std::isnan(y) || same_bits(-y, f(-x)));
    }
    CHECK(uneven == 0);
  }
}

// Also guards the reference: these come from no library.
TEST_CASE("float64 special values", "[math]") {
  namespace m = math_f64;
  CHECK(m::exp(0) == 1);
  CHECK(m::exp(-kInf) == 0);
  CHECK(m::exp(kInf) == kInf);
  CHECK(m::exp(-745) == kDenormal);
  CHECK(same_bits(m::expm1(-0.0), -0.0));
  CHECK(m::expm1(kDenormal) == kDenormal);
  CHECK(m::expm1(-kInf) == -1);
  CHECK(same_bits(m::log(1), 0));
  CHECK(m::log(-0.0) == -kInf);
  CHECK(std::isnan(m::log(-kDenormal)));
  CHECK(m::log1p(-1) == -kInf);
  CHECK(m::log1p(kMax) == m::log(kMax));
  CHECK(m::log2(8) == 3);
  CHECK(m::log2(kDenormal) == -1074);
  CHECK(m::log10(1000) == 3);
  CHECK(m::rsqrt(4) == 0.5);
  CHECK(same_bits(m::sin(-0.0), -0.0));
  CHECK(std::isnan(m::sin(kInf)));
  CHECK(m::sin(3.141592653589793) == 0x1.1a62633145c07p-53);
  CHECK(m::sin(1e22) == -0.8522008497671888018);
  CHECK(m::cos(1e22) == 0.5232147853951389455);
  CHECK(m::cos(0) == 1);
  CHECK(ulp_error(m::tan(1e22), -1.62877822560689887855L) <= 1.5);
  CHECK(m::asin(1) == 0x1.921fb54442d18p0);
  CHECK(same_bits(m::acos(1), 0));
  CHECK(m::acos(-1) == 0x1.921fb54442d18p1);
  CHECK(m::atan(-kInf) == -0x1.921fb54442d18p0);
  CHECK(same_bits(m::acosh(1), 0));
  CHECK(m::asinh(-kMax) == -m::acosh(kMax));
  CHECK(m::atanh(-1) == -kInf);
  CHECK(same_bits(m::tanh(-0.0), -0.0));
  CHECK(m::tanh(-kInf) == -1);
  CHECK(m::sigmoid(0) == 0.5);
  CHECK(m::sigmoid(-745) == kDenormal);
  CHECK(m::erf(kInf) == 1);
  CHECK(m::pow(3, 4) == 81);
  CHECK(m::pow(-3, 5) == -243);
  CHECK(m::pow(10, -308) == 1e-308);
  CHECK(m::pow(kNan, 0) == 1);
  CHECK(m::pow(1, kNan) == 1);
}

}  // namespace
}  // namespace relay::loops
