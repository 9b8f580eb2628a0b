#include "loops/math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "loops/math_f64.h"
#include "loops/math_native.h"

namespace relay::loops {
namespace {

using math::NativeF32;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

// Every 97th float in optimised builds. Under sanitizers a sample, or the tests would take minutes.
#ifdef NDEBUG
constexpr std::uint64_t kStride = 97;
#else
constexpr std::uint64_t kStride = 97 * 101;
#endif

float from_bits(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// The distance to the exact result in units in the last place of float32, or infinity where the
// kinds differ: NaN for a number, one zero for the other. An infinity counts as 2^128.
double ulp_error(float result, double exact) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(result) ? 0 : kWrong;
  if (exact == 0 && result == 0) return std::signbit(result) == std::signbit(exact) ? 0 : kWrong;
  if (std::isinf(exact)) return result == exact ? 0 : kWrong;
  const double seen = std::isinf(result) ? std::copysign(0x1p128, result) : double{result};
  // An exact result beyond float32 has 2^128 as its best answer.
  const double wanted = std::clamp(exact, -0x1p128, 0x1p128);
  // 2^(23 - exponent), from the bits; the exponent no lower than that of denormals, nor above 127.
  const auto field = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(wanted) >> 52 & 0x7ff);
  const std::int64_t exponent = std::clamp<std::int64_t>(field - 1023, -126, 127);
  const auto units = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 23 - exponent) << 52);
  const double error = std::fabs(seen - wanted) * units;
  return std::isnan(error) ? kWrong : error;
}

// Of all float32 the one nearest to a multiple of pi / 2, except 0.
constexpr float kNearQuarterTurns = 16367173.0f * 0x1p72f;

// Where something happens: thresholds, zeros, poles, ends of ranges.
std::vector<float> special_points() {
  const float exponentials[] = {0.25f, 0.5f,   1.0f,   2.0f,  8.0f,   9.01f,  10.0f,   17.33f,
                                30.0f, 87.33f, 88.72f, 89.0f, 89.41f, 100.0f, 103.97f, 105.0f};
  const float logarithms[] = {0.41421356f, 0.6931472f, 0.70710678f, 1.4142135f, 2.4142136f, 3.92f};
  const float angles[] = {0.78539816f, 1.5707964f, 3.1415927f, 6.2831855f, kNearQuarterTurns};
  const float ranges[] = {0.0f,     kDenormal, 0x1p-126f, 0x1p-100f, 0x1p-25f, 0x1p-24f,
                          0x1p-12f, 4.0f,      0x1p22f,   0x1p23f,   0x1p24f,  0x1p25f,
                          0x1p51f,  0x1p77f,   0x1p103f,  kMax};
  std::vector<float> all;
  for (const std::span<const float> group :
       {std::span<const float>(exponentials), std::span<const float>(logarithms),
        std::span<const float>(angles), std::span<const float>(ranges)}) {
    for (const float x : group) {
      all.push_back(x);
      all.push_back(-x);
    }
  }
  return all;
}

struct Worst {
  double ulp = 0;
  float at = 0;
  void add(float x, float result, double exact) {
    const double error = ulp_error(result, exact);
    if (error > ulp) *this = {error, x};
  }
};

template <class F>
Worst worst_error(F f, math_f64::Unary exact) {
  Worst worst;
  const auto check = [&](float x) { worst.add(x, f(x), exact(x)); };
  for (std::uint64_t bits = 0; bits < (1ull << 32); bits += kStride) check(from_bits(bits));
  for (const float point : special_points()) {
    const std::int64_t middle = std::bit_cast<std::uint32_t>(point);
    for (std::int64_t bits = middle - 2000; bits <= middle + 2000; ++bits) {
      check(from_bits(static_cast<std::uint64_t>(bits)));
    }
  }
  for (const float x : {kInf, -kInf, kNan, -kNan}) check(x);
  return worst;
}

// Float32 results, and float64 references, whose own error of at most 2^-28 float32 ulp is nothing.
#define RELAY_MATH_1(function, ulp_bound)                                                \
  TEST_CASE("float32 " #function " keeps its error bound", "[math]") {                   \
    NativeF32 t;                                                                         \
    const Worst worst =                                                                  \
        worst_error([&](float x) { return math::function(t, x); }, &math_f64::function); \
    INFO("at " << std::hexfloat << worst.at << std::defaultfloat << " = " << worst.at);  \
    CHECK(worst.ulp <= (ulp_bound));                                                     \
  }
#define RELAY_MATH_2(function, ulp_bound)
#define RELAY_MATH(prim, function, arity, ulp_bound, ...) RELAY_MATH_##arity(function, ulp_bound)
#include "loops/math.def"
#undef RELAY_MATH
#undef RELAY_MATH_1
#undef RELAY_MATH_2

constexpr double ulp_bound_of(lang::Prim wanted) {
#define RELAY_MATH(prim, function, arity, ulp_bound, ...) \
  if (lang::Prim::prim == wanted) return ulp_bound;
#include "loops/math.def"
#undef RELAY_MATH
  return 0;
}
constexpr double kPowUlp = ulp_bound_of(lang::Prim::Pow);

// Whole numbers, halves, and everything that C's Annex F has a word on.
std::vector<float> pow_points() {
  std::vector<float> points = {0.0f,           kDenormal, 0x1p-126f,     0x1p-127f,  0.5f,
                               0x1.fffffep-1f, 1.0f,      0x1.000002p0f, 1.5f,       2.5f,
                               4097.0f,        0x1p22f,   0x1p23f,       8388607.5f, 8388609.0f,
                               0x1.fffffep23f, 0x1p24f,   0x1p25f,       0x1p52f,    0x1p100f,
                               0x1p-100f,      1e30f,     kMax,          kInf,       kNan};
  for (int i = 2; i <= 20; ++i) points.push_back(static_cast<float>(i));
  const std::size_t count = points.size();
  for (std::size_t i = 0; i < count; ++i) points.push_back(-points[i]);
  return points;
}

TEST_CASE("float32 pow is C's pow at the special points", "[math]") {
  NativeF32 t;
  for (const float x : pow_points()) {
    for (const float y : pow_points()) {
      const double error = ulp_error(math::pow(t, x, y), std::pow(double{x}, double{y}));
      if (error > kPowUlp) FAIL_CHECK("pow(" << x << ", " << y << ") = " << math::pow(t, x, y));
    }
  }
}

TEST_CASE("float32 pow keeps its error bound", "[math]") {
  NativeF32 t;
  std::mt19937_64 random(20240607);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Worst any, in_range, near_one;
  const int count = static_cast<int>(200'000'000 / kStride);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    float x = from_bits(bits), y = from_bits(bits >> 32);
    any.add(x, math::pow(t, x, y), std::pow(double{x}, double{y}));

    // y such that the result lies within float32, or just outside.
    x = static_cast<float>(std::exp2(uniform(-149, 128)));
    y = static_cast<float>(uniform(-152, 130) / std::log2(x));
    in_range.add(x, math::pow(t, x, y), std::pow(double{x}, double{y}));

    x = static_cast<float>(1 + uniform(-0x1p-8, 0x1p-8));
    y = static_cast<float>(uniform(-152, 130) / std::log2(x));
    near_one.add(x, math::pow(t, x, y), std::pow(double{x}, double{y}));
  }
  CHECK(any.ulp <= kPowUlp);
  CHECK(in_range.ulp <= kPowUlp);
  CHECK(near_one.ulp <= kPowUlp);
}

// Counts failures over many floats, to be reported once.
struct Failures {
  long count = 0;
  float first = 0;
  void expect(bool ok, float x) {
    if (!ok && count++ == 0) first = x;
  }
};
#define RELAY_CHECK_NONE(failures)                                         \
  do {                                                                     \
    INFO((failures).count << " times, the first at " << (failures).first); \
    CHECK((failures).count == 0);                                          \
  } while (false)

TEST_CASE("float32 tanh and sigmoid saturate and stay there", "[math]") {
  NativeF32 t;
  Failures bounds, saturation;
  for (std::uint64_t bits = 0; bits <= std::bit_cast<std::uint32_t>(kInf); bits += kStride) {
    const float x = from_bits(bits);
    const float tanh = math::tanh(t, x);
    const float above = math::sigmoid(t, x);
    const float below = math::sigmoid(t, -x);
    bounds.expect(
        tanh >= 0 && tanh <= 1 && above >= 0.5f && above <= 1 && below >= 0 && below <= 0.5f, x);
    saturation.expect((x < 9.02f || tanh == 1) && (x < 17.4f || above == 1) &&
                          (x < 104.0f || same_bits(below, 0.0f)),
                      x);
  }
  RELAY_CHECK_NONE(bounds);
  RELAY_CHECK_NONE(saturation);
}

TEST_CASE("float32 tanh and sigmoid are monotone where they saturate", "[math]") {
  NativeF32 t;
  const auto falls = [](auto f, float from, float to) {  // float by float
    const auto end = std::bit_cast<std::uint32_t>(to);
    Failures result;
    float last = f(from);
    for (auto bits = std::bit_cast<std::uint32_t>(from); bits <= end; ++bits) {
      const float next = f(from_bits(bits));
      result.expect(next >= last, from_bits(bits));
      last = next;
    }
    return result;
  };
  const Failures tanh = falls([&](float x) { return math::tanh(t, x); }, 8.5f, 10.5f);
  const Failures sigmoid = falls([&](float x) { return math::sigmoid(t, x); }, 16.5f, 18.0f);
  const Failures minus = falls([&](float x) { return -math::sigmoid(t, -x); }, 103.0f, 106.0f);
  RELAY_CHECK_NONE(tanh);
  RELAY_CHECK_NONE(sigmoid);
  RELAY_CHECK_NONE(minus);
}

TEST_CASE("float32 odd functions are odd bit for bit", "[math]") {
  NativeF32 t;
#define RELAY_CHECK_ODD(f)                                                                       \
  do {                                                                                           \
    Failures failures;                                                                           \
    for (std::uint64_t bits = 0; bits <= std::bit_cast<std::uint32_t>(kInf); bits += 97 * 101) { \
      const float x = from_bits(bits), y = math::f(t, x);                                        \
      failures.expect(std::isnan(y) || same_bits(-y, math::f(t, -x)), x);                        \
    }                                                                                            \
    INFO(#f);                                                                                    \
    RELAY_CHECK_NONE(failures);                                                                  \
  } while (false)
  RELAY_CHECK_ODD(sin);
  RELAY_CHECK_ODD(tan);
  RELAY_CHECK_ODD(asin);
  RELAY_CHECK_ODD(atan);
  RELAY_CHECK_ODD(sinh);
  RELAY_CHECK_ODD(tanh);
  RELAY_CHECK_ODD(asinh);
  RELAY_CHECK_ODD(atanh);
  RELAY_CHECK_ODD(erf);
#undef RELAY_CHECK_ODD
}

// Also guards the reference: these come from no library.
TEST_CASE("float32 special values", "[math]") {
  NativeF32 t;
  CHECK(math::exp(t, 0.0f) == 1);
  CHECK(math::exp(t, -kInf) == 0);
  CHECK(math::exp(t, kInf) == kInf);
  CHECK(math::exp(t, -103.0f) == 0x1.4p-149f * 1.0f);
  CHECK(same_bits(math::expm1(t, -0.0f), -0.0f));
  CHECK(math::expm1(t, kDenormal) == kDenormal);
  CHECK(math::expm1(t, -kInf) == -1);
  CHECK(same_bits(math::log(t, 1.0f), 0.0f));
  CHECK(math::log(t, -0.0f) == -kInf);
  CHECK(std::isnan(math::log(t, -kDenormal)));
  CHECK(math::log1p(t, -1.0f) == -kInf);
  CHECK(math::log2(t, 8.0f) == 3);
  CHECK(math::log2(t, kDenormal) == -149);
  CHECK(math::log10(t, 1000.0f) == 3);
  CHECK(math::rsqrt(t, 4.0f) == 0.5f);
  CHECK(same_bits(math::sin(t, -0.0f), -0.0f));
  CHECK(std::isnan(math::sin(t, kInf)));
  CHECK(ulp_error(math::sin(t, 0x1p120f), 0x1.82e346p-2) <= 2);
  CHECK(math::cos(t, 0.0f) == 1);
  CHECK(math::asin(t, 1.0f) == 0x1.921fb6p0f);
  CHECK(same_bits(math::acos(t, 1.0f), 0.0f));
  CHECK(math::acos(t, -1.0f) == 0x1.921fb6p1f);
  CHECK(math::atan(t, -kInf) == -0x1.921fb6p0f);
  CHECK(same_bits(math::acosh(t, 1.0f), 0.0f));
  CHECK(math::atanh(t, -1.0f) == -kInf);
  CHECK(same_bits(math::tanh(t, -0.0f), -0.0f));
  CHECK(math::tanh(t, -kInf) == -1);
  CHECK(math::sigmoid(t, 0.0f) == 0.5f);
  CHECK(math::sigmoid(t, -103.0f) == 0x1.4p-149f * 1.0f);
  CHECK(math::erf(t, kInf) == 1);
  CHECK(math::pow(t, 3.0f, 4.0f) == 81);
  CHECK(math::pow(t, kNan, 0.0f) == 1);
  CHECK(math::pow(t, 1.0f, kNan) == 1);
}

TEST_CASE("float64 functions: one for each row of math.def", "[math]") {
  for (const math_f64::Function& f : math_f64::functions()) {
    INFO(f.name);
    CHECK(math_f64::find(f.prim) == &f);
    CHECK((f.unary == nullptr) != (f.binary == nullptr));
    CHECK(std::isnan(f.unary ? f.unary(kNan) : f.binary(kNan, 2.0)));
  }
  CHECK(math_f64::find(lang::Prim::Add) == nullptr);
  CHECK(math_f64::rsqrt(4.0) == 0.5);
  CHECK(math_f64::sigmoid(0.0) == 0.5);
  CHECK(math_f64::sigmoid(1000.0) == 1.0);
  CHECK(std::signbit(math_f64::sigmoid(-kInf)) == false);
}

}  // namespace
}  // namespace relay::loops
