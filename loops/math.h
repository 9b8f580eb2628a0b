#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

// The float32 math functions, written once for both back ends: templates over a target that either
// computes (NativeF32 in loops/math_native.h) or emits code. Given the same inputs both give the
// same bits: every step is an exactly rounded IEEE 754 operation, in the order written here.
//
// Promises, for every float32 input, denormals included (tests/unit/loops/math_test.cpp checks it):
//   - the error bound that stands in loops/math.def, at most 3.8 units in the last place; for a
//     denormal result the unit is the spacing of denormals;
//   - the results of C's Annex F for 0, -0, infinities and NaN; odd functions are odd bit for bit;
//   - a NaN result is some NaN: its sign and payload are not specified.
// No branches, tables or calls: a loop over any of these vectorises, on a CPU with fused
// multiply-add.
//
// A target T has four types, which may be one and the same: F (float32), I (int32), D (float64) and
// B (truth), each a lane or a vector of lanes; and the members below. Each does one operation:
// rounded to nearest even, never contracted to FMA where none is written, reassociated or flushed
// to zero, and with nothing assumed about NaN.
//
//   F f32(float)    I i32(int32_t)    D f64(double)    constants
//   F add sub mul div(F, F)    F abs sqrt(F)    F fma(F a, F b, F c)    a * b + c, rounded once
//   B lt eq(F, F)              false for NaN
//   F select(B, F, F)          the second where true, else the third
//   I bits(F)    F from_bits(I)
//   F to_float(I)
//   I iadd isub iand ior ixor(I, I)    wrapping
//   I shl ashr(I, int)                 wrapping; ashr keeps the sign
//   B ieq(I, I)    I iselect(B, I, I)
//   D to_f64(F)    F to_f32(D)         to_f32 rounds, to a denormal too
//   D dadd dsub dmul ddiv(D, D)    D dsqrt(D)    D dfma(D, D, D)
//   B dlt(D, D)    D dselect(B, D, D)
//   D pow2_f64(I k)            the bits (k + 1023) << 52, in int64, for any k
//   D dshl(D, int)             the bits, in int64, wrapping
//
// tools/minimax.py prints the coefficients.
namespace relay::loops::math {

// --- pieces -----------------------------------------------------------------------------------

namespace detail {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int32_t kSignBit = std::numeric_limits<std::int32_t>::min();

// (x + kRound) - kRound is x rounded to an integer, to nearest even, for |x| < 2^22; the low bits
// of x + kRound then are that integer, off by kRoundBits. kRoundF64 is the same up to 2^51.
constexpr float kRound = 0x1.8p23f;
constexpr std::int32_t kRoundBits = 0x4b400000;
constexpr double kRoundF64 = 0x1.8p52;

constexpr std::int32_t kOneBits = 0x3f800000;
constexpr std::int32_t kRootHalfBits = 0x3f3504f3;

constexpr float kLog2e = 0x1.715476p0f;
constexpr float kLn2 = 0x1.62e43p-1f;
// kLn2Hi has 15 bits, so that its product with an exponent is exact.
constexpr float kLn2Hi = 0x1.62e4p-1f;
constexpr float kLn2Lo = 0x1.7f7d1cp-20f;
// log2(e) - 1
constexpr float kLog2eRest = 0x1.c551dap-2f;
// In two parts each: the first one of few bits, so that its product with an exponent is exact.
constexpr float kLog10e = 0x1.bcb7b2p-2f;
constexpr float kLog10eHi = 0x1.bcp-2f;
constexpr float kLog10eLo = 0x1.6f62a4p-11f;
constexpr float kLog10Of2Hi = 0x1.344p-2f;
constexpr float kLog10Of2Lo = 0x1.3509f8p-18f;
constexpr double kLn2F64 = 0x1.62e42fefa39efp-1;
constexpr double kLog2eF64 = 0x1.71547652b82fep0;
constexpr double kQuarterF64 = 0x1.921fb54442d18p0;
// pi / 2 in two parts
constexpr float kQuarterHi = 0x1.921fb6p0f;
constexpr float kQuarterLo = -0x1.777a5cp-25f;

// Horner: c[0] + x * (c[1] + x * (...)). Without a loop, which might stay one.
template <class T, std::size_t N>
typename T::F poly(T& t, typename T::F x, const std::array<float, N>& c) {
  typename T::F sum = t.f32(c[N - 1]);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((sum = t.fma(sum, x, t.f32(c[N - 2 - I]))), ...);
  }
  (std::make_index_sequence<N - 1>());
  return sum;
}

template <class T, std::size_t N>
typename T::D dpoly(T& t, typename T::D x, const std::array<double, N>& c) {
  typename T::D sum = t.f64(c[N - 1]);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((sum = t.dfma(sum, x, t.f64(c[N - 2 - I]))), ...);
  }
  (std::make_index_sequence<N - 1>());
  return sum;
}

// These keep a NaN in x. In this form they are one instruction on x86.
template <class T>
typename T::F at_most(T& t, typename T::F x, float high) {
  return t.select(t.lt(t.f32(high), x), t.f32(high), x);
}

template <class T>
typename T::F at_least(T& t, typename T::F x, float low) {
  return t.select(t.lt(x, t.f32(low)), t.f32(low), x);
}

// `magnitude`, whose sign bit is clear, with the sign of `sign`.
template <class T>
typename T::F with_sign(T& t, typename T::F magnitude, typename T::F sign) {
  return t.from_bits(t.ior(t.bits(magnitude), t.iand(t.bits(sign), t.i32(kSignBit))));
}

// An integer-valued float between -2^22 and 2^22, as an integer. Anything, but no trap, for NaN.
template <class T>
typename T::I small_int(T& t, typename T::F n) {
  return t.isub(t.bits(t.add(n, t.f32(kRound))), t.i32(kRoundBits));
}

// 2^(n + bias) from `rounded`, which is n + kRound. n + bias must be a normal exponent.
template <class T>
typename T::F pow2_of_rounded(T& t, typename T::F rounded, int bias = 0) {
  return t.from_bits(t.iadd(t.shl(t.bits(rounded), 23), t.i32(kOneBits + bias * (1 << 23))));
}

// e^r = 1 + r + r^2 * (this), for |r| <= ln(2) / 2.
constexpr std::array kExpTail = {0.49999997f, 0.166665435f, 0.0416672006f, 0.00836653262f,
                                 0.00138825108f};

// x = n ln 2 + r with |r| <= ln(2) / 2, for |x| < 2^7.
template <class T>
struct ExpParts {
  typename T::F rounded;  // n + kRound + bias
  typename T::F r;
};
template <class T>
ExpParts<T> exp_parts(T& t, typename T::F x, int bias = 0) {
  const auto round = t.f32(kRound + static_cast<float>(bias));
  const auto rounded = t.fma(x, t.f32(kLog2e), round);
  const auto n = t.sub(rounded, round);
  return {rounded, t.fma(n, t.f32(-kLn2Lo), t.fma(n, t.f32(-kLn2Hi), x))};
}

// x = 2^e (1 + f), with 1 + f between the roots of 1/2 and 2, for x > 0; the sum f - half_square +
// tail is log(1 + f). f and e are exact.
template <class T>
struct LogParts {
  typename T::F e, f, half_square, tail;
};
template <class T>
LogParts<T> log_parts(T& t, typename T::F x) {
  constexpr std::array kTail = {0.333333135f,  -0.250000089f, 0.200021178f,
                                -0.166679949f, 0.142195538f,  -0.124055982f,
                                0.118881591f,  -0.116755985f, 0.0674658641f};
  const auto denormal = t.lt(x, t.f32(0x1p-126f));
  const auto scaled = t.bits(t.select(denormal, t.mul(x, t.f32(0x1p23f)), x));
  const auto above = t.isub(scaled, t.i32(kRootHalfBits));
  const auto shift = t.select(denormal, t.f32(23.0f), t.f32(0.0f));
  const auto e = t.sub(t.to_float(t.ashr(above, 23)), shift);
  const auto m = t.from_bits(t.iadd(t.iand(above, t.i32(0x007fffff)), t.i32(kRootHalfBits)));
  const auto f = t.sub(m, t.f32(1.0f));
  const auto square = t.mul(f, f);
  const auto tail = t.mul(t.mul(square, f), poly(t, f, kTail));
  return {e, f, t.mul(square, t.f32(0.5f)), tail};
}

// `result`, or what a logarithm is where log_parts has no meaning.
template <class T>
typename T::F log_at_ends(T& t, typename T::F x, typename T::F result) {
  result = t.select(t.lt(x, t.f32(kInf)), result, x);
  result = t.select(t.lt(x, t.f32(0.0f)), t.f32(kNan), result);
  return t.select(t.eq(x, t.f32(0.0f)), t.f32(-kInf), result);
}

// e^|x| / 4 is scale + scale * p; NaN for NaN, and beyond float32 / 4 for infinity. A quarter, so
// that all is finite where sinh and cosh are.
template <class T>
struct QuarterExp {
  typename T::F scale, scaled_p;
  typename T::F inverse;  // e^-|x| / 4
};
template <class T>
QuarterExp<T> quarter_exp(T& t, typename T::F x) {
  const auto [rounded, r] = exp_parts(t, at_most(t, t.abs(x), 89.5f));
  const auto p = t.fma(t.mul(r, r), poly(t, r, kExpTail), r);
  const auto scale = pow2_of_rounded(t, rounded, -2);
  const auto scaled_p = t.mul(scale, p);
  return {scale, scaled_p, t.div(t.f32(0.0625f), t.add(scale, scaled_p))};
}

// --- pieces in float64 ---

// 2^x for |x| < 1000, relative error 2^-27.
template <class T>
typename T::D exp2_f64(T& t, typename T::D x) {
  constexpr std::array kTail = {0.6931471880293428,    0.2402265092234274,
                                0.05550357104252827,   0.009618056669886002,
                                0.0013390867351459476, 0.00015461447463377875};
  // The low bits of `rounded` are the biased exponent of 2^n.
  const auto bias = t.f64(kRoundF64 + 1023);
  const auto rounded = t.dadd(x, bias);
  const auto f = t.dsub(x, t.dsub(rounded, bias));
  const auto p = t.dfma(f, dpoly(t, f, kTail), t.f64(1.0));
  return t.dmul(p, t.dshl(rounded, 52));
}

// x = 2^e (1 + s) / (1 - s) for 2^-120 < x <= 2^129, with |s| < 0.172; log x is e ln 2 + 2
// artanh(s), and artanh(s) is s (1 + z tail(z)) for z = s^2.
template <class T>
struct WideLogParts {
  typename T::D s;
  typename T::D e;
};

template <class T>
WideLogParts<T> wide_log_parts(T& t, typename T::D x) {
  // x = 2^e m with m between the roots of 1/2 and 2. The exponent is read off a float32, for want
  // of int64 lanes; of x/4, so that it fits.
  const auto narrow = t.bits(t.to_f32(t.dmul(x, t.f64(0.25))));
  const auto e = t.iadd(t.ashr(t.isub(narrow, t.i32(kRootHalfBits)), 23), t.i32(2));
  const auto m = t.dmul(x, t.pow2_f64(t.isub(t.i32(0), e)));
  return {t.ddiv(t.dsub(m, t.f64(1.0)), t.dadd(m, t.f64(1.0))), t.to_f64(t.to_float(e))};
}

template <class T, std::size_t N>
typename T::D log_by_tail(T& t, typename T::D x, const std::array<double, N>& tail) {
  const auto [s, e] = wide_log_parts(t, x);
  const auto z = t.dmul(s, s);
  const auto two_s = t.dadd(s, s);
  const auto log_m = t.dfma(two_s, t.dmul(z, dpoly(t, z, tail)), two_s);
  return t.dfma(e, t.f64(kLn2F64), log_m);
}

// Absolute error 2^-52 around 1, relative 2^-45 elsewhere.
template <class T>
typename T::D log_f64(T& t, typename T::D x) {
  constexpr std::array kTail = {0.33333333333293608, 0.20000000026136044,  0.14285708565012467,
                                0.11111685834160992, 0.090618215057285151, 0.084099084392142351};
  return log_by_tail(t, x, kTail);
}

// Enough for a float32: relative error 2^-35, also around 1.
constexpr std::array kShortLogTail = {0.3333333327689196, 0.20000061138706854, 0.14275390551792186,
                                      0.11665683773124844};

template <class T>
typename T::D short_log_f64(T& t, typename T::D x) {
  return log_by_tail(t, x, kShortLogTail);
}

template <class T>
typename T::D short_log2_f64(T& t, typename T::D x) {
  const auto [s, e] = wide_log_parts(t, x);
  const auto z = t.dmul(s, s);
  const auto scaled_s = t.dmul(s, t.f64(2 * kLog2eF64));
  const auto log_m = t.dfma(scaled_s, t.dmul(z, dpoly(t, z, kShortLogTail)), scaled_s);
  return t.dadd(e, log_m);
}

// A quarter turn more or less is one operation in float64; the rest is float32.
template <class T>
struct SineCosine {
  typename T::F sine, cosine;  // of what is left of x after whole quarter turns
  typename T::I quarters;      // how many those were, modulo 4
};

// 2/pi from the first bit on whose product with x is no multiple of 4 quarter turns, for x below a
// bound: two pieces of 29 bits, whose products with x are exact, and the rest.
struct TwoOverPi {
  float below;
  std::array<double, 3> pieces;
};
constexpr std::array<TwoOverPi, 5> kTwoOverPi = {{
    {0x1p25f, {0x1.45f306cp-1, 0x1.c9c882ap-29, 0x1.4fe13abe8fa9ap-59}},
    {0x1p51f, {0x1.45f306dp-1, 0x1.9391054p-30, 0x1.4fe13abe8fa9ap-59}},
    {0x1p77f, {0x1.727220ap-27, 0x1.29fc275p-56, 0x1.f47d4d377036ep-86}},
    {0x1p103f, {0x1.4a7f09cp-54, 0x1.5f47d4dp-82, 0x1.bb81b6c52b328p-113}},
    {kInf, {0x1.abe8fa9p-79, 0x1.4ddc0dbp-108, 0x1.8a5664f10e41p-138}},
}};

template <class T>
SineCosine<T> reduced_sine_cosine(T& t, typename T::F x) {
  constexpr double kRoundTo4 = 0x1.8p54;
  const auto magnitude = t.abs(x);
  std::array<typename T::D, 3> product = {t.f64(0), t.f64(0), t.f64(0)};
  for (std::size_t k = 0; k < 3; ++k) {
    auto piece = t.f64(kTwoOverPi.back().pieces[k]);
    for (std::size_t i = kTwoOverPi.size() - 1; i-- > 0;) {
      piece = t.dselect(t.lt(magnitude, t.f32(kTwoOverPi[i].below)), t.f64(kTwoOverPi[i].pieces[k]),
                        piece);
    }
    product[k] = t.dmul(t.to_f64(x), piece);
  }
  const auto whole = t.dsub(t.dadd(product[0], t.f64(kRoundTo4)), t.f64(kRoundTo4));
  const auto first = t.dsub(product[0], whole);
  const auto sum = t.dadd(first, product[1]);
  const auto quarters = t.dsub(t.dadd(sum, t.f64(kRoundF64)), t.f64(kRoundF64));
  const auto f = t.dadd(t.dadd(t.dsub(first, quarters), product[1]), product[2]);
  const auto r = t.to_f32(t.dmul(f, t.f64(kQuarterF64)));

  constexpr std::array kSine = {-0.166666552f, 0.00833215844f, -0.000195150205f};
  constexpr std::array kCosine = {0.0416666456f, -0.00138873141f, 2.44328676e-05f};
  const auto z = t.mul(r, r);
  // The sum loses the sign of -0.
  const auto curved = t.fma(r, t.mul(z, poly(t, z, kSine)), r);
  const auto sine = t.select(t.eq(r, t.f32(0.0f)), r, curved);
  const auto cosine = t.fma(t.mul(z, z), poly(t, z, kCosine), t.fma(z, t.f32(-0.5f), t.f32(1.0f)));
  return {sine, cosine, small_int(t, t.to_f32(quarters))};
}

// sin(x + a quarter turn * `phase`)
template <class T>
typename T::F sine_of(T& t, typename T::F x, int phase) {
  const auto parts = reduced_sine_cosine(t, x);
  const auto quarters = phase == 0 ? parts.quarters : t.iadd(parts.quarters, t.i32(phase));
  const auto even = t.ieq(t.iand(quarters, t.i32(1)), t.i32(0));
  const auto result = t.select(even, parts.sine, parts.cosine);
  return t.from_bits(t.ixor(t.bits(result), t.shl(t.iand(quarters, t.i32(2)), 30)));
}

template <class T>
typename T::B is_above_half(T& t, typename T::F x) {
  return t.lt(t.f32(0.5f), t.abs(x));
}

// asin |x|; above one half asin(sqrt((1 - |x|) / 2)), half of what is missing to a quarter turn. No
// division, and a root in float32: on vectors these are what such functions cost. NaN for |x| > 1.
template <class T>
typename T::F arc_of(T& t, typename T::F x) {
  constexpr std::array kTail = {0.166667521f, 0.0749529749f, 0.0454703905f, 0.024179453f,
                                0.0421663933f};
  const auto magnitude = t.abs(x);
  const auto above = is_above_half(t, x);
  // Both steps are exact.
  const auto z_above = t.mul(t.sub(t.f32(1.0f), magnitude), t.f32(0.5f));
  const auto z = t.select(above, z_above, t.mul(magnitude, magnitude));
  const auto s = t.select(above, t.sqrt(z_above), magnitude);
  return t.fma(s, t.mul(z, poly(t, z, kTail)), s);
}

// x less the nearest integer; 0 for large x.
template <class T>
typename T::F off_integer(T& t, typename T::D x) {
  return t.to_f32(t.dsub(x, t.dsub(t.dadd(x, t.f64(kRoundF64)), t.f64(kRoundF64))));
}

}  // namespace detail

// --- in float32: the ones that networks spend their time in -----------------------------------

template <class T>
typename T::F exp(T& t, typename T::F x) {
  using namespace detail;
  // Outside these bounds the result is 0 or infinite, as it is at them.
  const auto [rounded, r] = exp_parts(t, at_least(t, at_most(t, x, 89.0f), -105.0f), 2 * 127);
  const auto tail = poly(t, r, kExpTail);
  const auto p = t.fma(t.fma(tail, r, t.f32(1.0f)), r, t.f32(1.0f));
  // 2^n in two factors: n reaches beyond the exponents of normal numbers at both ends.
  const auto both = t.bits(rounded);
  const auto half = t.ashr(both, 1);
  const auto scale1 = t.from_bits(t.shl(half, 23));
  const auto scale2 = t.from_bits(t.shl(t.isub(both, half), 23));
  return t.mul(t.mul(p, scale1), scale2);
}

template <class T>
typename T::F expm1(T& t, typename T::F x) {
  using namespace detail;
  // -1 or infinity at the bounds and beyond.
  const auto [rounded, r] = exp_parts(t, at_least(t, at_most(t, x, 89.0f), -20.0f));
  const auto p = t.fma(t.mul(r, r), poly(t, r, kExpTail), r);
  // 2^n p + (2^n - 1), halved: 2^n itself may be infinite.
  const auto scale = pow2_of_rounded(t, rounded, -1);
  const auto result = t.fma(scale, p, t.sub(scale, t.f32(0.5f)));
  // Halving loses a bit of a denormal, and the sum the sign of -0.
  return t.select(t.lt(t.abs(x), t.f32(0x1p-25f)), x, t.add(result, result));
}

template <class T>
typename T::F log(T& t, typename T::F x) {
  using namespace detail;
  const auto [e, f, half_square, tail] = log_parts(t, x);
  // Small to large.
  const auto small = t.sub(t.fma(e, t.f32(kLn2Lo), tail), half_square);
  return log_at_ends(t, x, t.fma(e, t.f32(kLn2Hi), t.add(f, small)));
}

// f log2(e) is f and 0.44 f, so that the rounding of the product is one of the smaller part.
template <class T>
typename T::F log2(T& t, typename T::F x) {
  using namespace detail;
  const auto [e, f, half_square, tail] = log_parts(t, x);
  const auto rest = t.sub(tail, half_square);
  auto small = t.mul(rest, t.f32(kLog2eRest));
  small = t.add(t.fma(f, t.f32(kLog2eRest), small), rest);
  return log_at_ends(t, x, t.add(t.add(small, f), e));
}

template <class T>
typename T::F log10(T& t, typename T::F x) {
  using namespace detail;
  const auto [e, f, half_square, tail] = log_parts(t, x);
  const auto rest = t.sub(tail, half_square);
  auto small = t.fma(e, t.f32(kLog10Of2Lo), t.mul(f, t.f32(kLog10eLo)));
  small = t.fma(rest, t.f32(kLog10e), small);
  small = t.fma(f, t.f32(kLog10eHi), small);
  return log_at_ends(t, x, t.fma(e, t.f32(kLog10Of2Hi), small));
}

// With x = n ln(2)/2 + r, numerator and denominator of (e^2x - 1) / (e^2x + 1) are divided by
// 2^(n+1). The product n ln(2)/2 may be rounded: the further n is from 0, the less its last bits
// matter.
template <class T>
typename T::F tanh(T& t, typename T::F x) {
  using namespace detail;
  // (e^2r - 1) / 2 = r + r^2 * (this)
  constexpr std::array kTail = {0.99999994f, 0.666661739f, 0.333337605f, 0.133864522f,
                                0.0444240347f};
  // The first float whose quotient below is 1. Up to 9.02 the quotient would waver between 1 and
  // its neighbours, as the sum in the denominator falls between two floats: capped here, tanh is
  // monotone.
  constexpr float kOneFrom = 0x1.154246p3f;
  const auto magnitude = at_most(t, t.abs(x), kOneFrom);
  const auto rounded = t.fma(magnitude, t.f32(-2 * kLog2e), t.f32(kRound));
  const auto minus_n = t.sub(rounded, t.f32(kRound));
  const auto r = t.fma(minus_n, t.f32(kLn2 / 2), magnitude);
  const auto p = t.fma(r, t.mul(r, poly(t, r, kTail)), r);
  const auto scale = pow2_of_rounded(t, rounded);
  const auto numerator = t.add(p, t.fma(scale, t.f32(-0.5f), t.f32(0.5f)));
  return with_sign(t, t.div(numerator, t.add(numerator, scale)), x);
}

// 1 / (1 + e^-x), with numerator and denominator scaled by 2^-30: e^-x may be beyond float32 where
// the quotient is still a denormal.
template <class T>
typename T::F sigmoid(T& t, typename T::F x) {
  using namespace detail;
  constexpr float kScale = 0x1p-30f;
  // 1 from 17.4 on, 0 below -104.
  const auto clamped = at_least(t, at_most(t, x, 30.0f), -105.0f);
  const auto rounded = t.fma(clamped, t.f32(-kLog2e), t.f32(kRound));
  const auto n = t.sub(rounded, t.f32(kRound));
  // -x = n ln 2 - r: this r has the other sign than in exp, and so have the odd coefficients.
  const auto r = t.fma(n, t.f32(kLn2Lo), t.fma(n, t.f32(kLn2Hi), clamped));
  constexpr std::array kExpMinus = {1.0f,        -1.0f,        kExpTail[0], -kExpTail[1],
                                    kExpTail[2], -kExpTail[3], kExpTail[4]};
  const auto p = poly(t, r, kExpMinus);
  const auto exponential = t.mul(p, pow2_of_rounded(t, rounded, -30));
  return t.div(t.f32(kScale), t.add(exponential, t.f32(kScale)));
}

template <class T>
typename T::F erf(T& t, typename T::F x) {
  using namespace detail;
  constexpr std::array kLow = {0.128379166f,   -0.37612626f,     0.112835854f,   -0.0268538129f,
                               0.00518832775f, -0.000801019371f, 7.85386219e-05f};
  constexpr std::array kHigh = {-0.000510314014f, -1.62597501f,    -0.920765162f, -0.148651361f,
                                0.0314583592f,    -0.00424094079f, 0.00026772506f};
  constexpr std::array kExp2 = {0.693147004f, 0.240222424f, 0.0555073395f, 0.00967153255f,
                                0.00132646633f};
  const auto magnitude = at_most(t, t.abs(x), 4.0f);  // 1 from 3.92 on
  // Below 1: x + x p(x^2).
  const auto low = t.fma(magnitude, poly(t, t.mul(magnitude, magnitude), kLow), magnitude);
  // Above: 1 - 2^q(x). The last bits of 2^q hardly matter.
  const auto q = poly(t, magnitude, kHigh);
  const auto rounded = t.add(q, t.f32(kRound));
  const auto f = t.sub(q, t.sub(rounded, t.f32(kRound)));
  const auto p = t.fma(f, poly(t, f, kExp2), t.f32(1.0f));
  const auto high = t.sub(t.f32(1.0f), t.mul(p, pow2_of_rounded(t, rounded)));
  return with_sign(t, t.select(t.lt(magnitude, t.f32(1.0f)), low, high), x);
}

template <class T>
typename T::F rsqrt(T& t, typename T::F x) {
  return t.div(t.f32(1.0f), t.sqrt(x));
}

template <class T>
typename T::F asin(T& t, typename T::F x) {
  using namespace detail;
  const auto angle = arc_of(t, x);
  const auto rest = t.sub(t.add(angle, angle), t.f32(kQuarterLo));
  return with_sign(t, t.select(is_above_half(t, x), t.sub(t.f32(kQuarterHi), rest), angle), x);
}

template <class T>
typename T::F acos(T& t, typename T::F x) {
  using namespace detail;
  const auto angle = arc_of(t, x);
  const auto is_negative = t.lt(x, t.f32(0.0f));
  const auto twice = t.add(angle, angle);
  const auto from_half = t.sub(t.f32(2 * kQuarterHi), t.sub(twice, t.f32(2 * kQuarterLo)));
  const auto above = t.select(is_negative, from_half, twice);
  const auto below = t.sub(t.f32(kQuarterHi), t.sub(with_sign(t, angle, x), t.f32(kQuarterLo)));
  return t.select(is_above_half(t, x), above, below);
}

// Turned by an eighth or a quarter of a circle, so that atan is left of a ratio of at most
// tan(pi / 8).
template <class T>
typename T::F atan(T& t, typename T::F x) {
  using namespace detail;
  constexpr std::array kTail = {-0.333333164f, 0.199984714f, -0.142435327f, 0.105938137f,
                                -0.0607822388f};
  const auto a = t.abs(x);
  const auto low = t.lt(a, t.f32(0.41421357f));
  const auto high = t.lt(t.f32(2.4142137f), a);
  const auto choose = [&](typename T::F if_low, typename T::F if_high, typename T::F between) {
    return t.select(low, if_low, t.select(high, if_high, between));
  };
  const auto above = choose(a, t.f32(-1.0f), t.sub(a, t.f32(1.0f)));
  const auto below = choose(t.f32(1.0f), a, t.add(a, t.f32(1.0f)));
  const auto turned = choose(t.f32(0.0f), t.f32(kQuarterHi), t.f32(kQuarterHi / 2));
  const auto rest = choose(t.f32(0.0f), t.f32(kQuarterLo), t.f32(kQuarterLo / 2));
  const auto s = t.div(above, below);
  const auto z = t.mul(s, s);
  const auto small = t.fma(s, t.mul(z, poly(t, z, kTail)), rest);
  return with_sign(t, t.add(turned, t.add(s, small)), x);
}

template <class T>
typename T::F sin(T& t, typename T::F x) {
  return detail::sine_of(t, x, 0);
}

template <class T>
typename T::F cos(T& t, typename T::F x) {
  return detail::sine_of(t, x, 1);
}

template <class T>
typename T::F tan(T& t, typename T::F x) {
  const auto [sine, cosine, quarters] = detail::reduced_sine_cosine(t, x);
  const auto even = t.ieq(t.iand(quarters, t.i32(1)), t.i32(0));
  const auto above = t.select(even, sine, cosine);
  const auto below = t.select(even, cosine, t.sub(t.f32(0.0f), sine));
  return t.div(above, below);
}

template <class T>
typename T::F sinh(T& t, typename T::F x) {
  using namespace detail;
  constexpr std::array kTail = {0.166666672f, 0.0083333496f, 0.000198361595f, 2.81695043e-06f};
  const auto a = t.abs(x);
  const auto [scale, scaled_p, inverse] = quarter_exp(t, x);
  const auto half = t.add(scale, t.sub(scaled_p, inverse));
  const auto z = t.mul(a, a);
  const auto low = t.fma(a, t.mul(z, poly(t, z, kTail)), a);
  return with_sign(t, t.select(t.lt(a, t.f32(1.0f)), low, t.add(half, half)), x);
}

template <class T>
typename T::F cosh(T& t, typename T::F x) {
  const auto [scale, scaled_p, inverse] = detail::quarter_exp(t, x);
  const auto half = t.add(scale, t.add(scaled_p, inverse));
  return t.add(half, half);
}

// (1 + a) / (1 - a) = 2^e (1 + s) / (1 - s) for a = |x|, with e = 0 for a < 1/4 and s between -0.12
// and 0.29: atanh a = e ln(2)/2 + atanh s. What makes s, 2^e (1 - a) - 1, is exact.
template <class T>
typename T::F atanh(T& t, typename T::F x) {
  using namespace detail;
  constexpr std::array kTail = {0.333333343f, 0.199998438f, 0.142942816f, 0.109072544f,
                                0.112438217f};
  constexpr float kLeast = 0x1.8p-24f;  // e is at most 24, so that 1 - 2^-e is exact
  const auto a = t.abs(x);
  const auto one = t.f32(1.0f);
  const auto apart = t.isub(t.bits(t.add(one, a)), t.bits(at_least(t, t.sub(one, a), kLeast)));
  const auto e = t.ashr(t.iadd(apart, t.i32(1 << 21)), 23);
  const auto exponent = t.shl(e, 23);
  const auto power = t.from_bits(t.iadd(t.i32(kOneBits), exponent));
  const auto inverse = t.from_bits(t.isub(t.i32(kOneBits), exponent));
  const auto q = t.mul(t.sub(t.sub(one, inverse), a), power);
  const auto s = t.div(t.sub(a, q), t.add(t.add(a, q), t.f32(2.0f)));
  const auto z = t.mul(s, s);
  const auto n = t.to_float(e);
  const auto small = t.fma(n, t.f32(kLn2Lo / 2), t.mul(s, t.mul(z, poly(t, z, kTail))));
  auto result = t.fma(n, t.f32(kLn2Hi / 2), t.add(s, small));
  result = t.select(t.eq(a, one), t.f32(kInf), result);
  return with_sign(t, t.select(t.lt(one, a), t.f32(kNan), result), x);
}

// --- through float64: one rounding that matters, the last -------------------------------------

template <class T>
typename T::F log1p(T& t, typename T::F x) {
  using namespace detail;
  auto result = t.to_f32(log_f64(t, t.dadd(t.f64(1.0), t.to_f64(x))));
  result = t.select(t.lt(t.abs(x), t.f32(0x1p-24f)), x, result);
  result = t.select(t.lt(x, t.f32(kInf)), result, x);
  result = t.select(t.lt(x, t.f32(-1.0f)), t.f32(kNan), result);
  return t.select(t.eq(x, t.f32(-1.0f)), t.f32(-kInf), result);
}

template <class T>
typename T::F asinh(T& t, typename T::F x) {
  using namespace detail;
  const auto magnitude = t.abs(x);
  const auto a = t.to_f64(magnitude);
  const auto root = t.dsqrt(t.dfma(a, a, t.f64(1.0)));
  auto result = t.to_f32(short_log_f64(t, t.dadd(a, root)));
  result = t.select(t.lt(magnitude, t.f32(0x1p-12f)), magnitude, result);
  return with_sign(t, t.select(t.lt(magnitude, t.f32(kInf)), result, magnitude), x);
}

template <class T>
typename T::F acosh(T& t, typename T::F x) {
  using namespace detail;
  const auto a = t.to_f64(x);
  const auto root = t.dsqrt(t.dsub(t.dmul(a, a), t.f64(1.0)));
  const auto result = t.to_f32(short_log_f64(t, t.dadd(a, root)));
  const auto defined = t.select(t.lt(x, t.f32(1.0f)), t.f32(kNan), result);
  return t.select(t.lt(x, t.f32(kInf)), defined, x);
}

// |x|^y is 2^(y log2 |x|), then the sign.
template <class T>
typename T::F pow(T& t, typename T::F x, typename T::F y) {
  using namespace detail;
  // Logarithm and y are kept finite, and large enough to overflow all the same: 0^0, inf^0 and
  // 1^inf then are 2^0, as C wants it.
  const auto base = t.abs(x);
  const auto tiny = t.lt(base, t.f32(0x1p-100f));
  auto exponent = short_log2_f64(t, t.to_f64(t.select(tiny, t.mul(base, t.f32(0x1p64f)), base)));
  exponent = t.dsub(exponent, t.dselect(tiny, t.f64(64.0), t.f64(0.0)));
  exponent = t.dselect(t.eq(base, t.f32(0.0f)), t.f64(-1e60), exponent);
  exponent = t.dselect(t.eq(base, t.f32(kInf)), t.f64(1e60), exponent);
  const auto finite_y = t.to_f64(at_least(t, at_most(t, y, 0x1p100f), -0x1p100f));
  exponent = t.dmul(exponent, finite_y);
  exponent = t.dselect(t.dlt(t.f64(200.0), exponent), t.f64(200.0), exponent);
  exponent = t.dselect(t.dlt(exponent, t.f64(-200.0)), t.f64(-200.0), exponent);
  const auto power = t.to_f32(exp2_f64(t, exponent));
  // Odd y, and no other, keeps the sign of x, also of 0.
  const auto off_even = t.abs(off_integer(t, t.dmul(finite_y, t.f64(0.5))));
  const auto if_odd = t.iselect(t.eq(off_even, t.f32(0.5f)), t.i32(kSignBit), t.i32(0));
  auto result = t.from_bits(t.ixor(t.bits(power), t.iand(t.bits(x), if_odd)));
  // A finite negative number to a power that is no integer.
  const auto undefined = t.select(t.lt(base, t.f32(kInf)), t.f32(kNan), result);
  const auto whole = t.eq(off_integer(t, finite_y), t.f32(0.0f));
  result = t.select(t.lt(x, t.f32(0.0f)), t.select(whole, result, undefined), result);
  // Exactly, as where the exponent is known (NodeFactory::primitive).
  result = t.select(t.eq(y, t.f32(1.0f)), x, result);
  result = t.select(t.eq(y, t.f32(2.0f)), t.mul(x, x), result);
  // 1^y and x^0 are 1 even for NaN.
  result = t.select(t.eq(x, t.f32(1.0f)), t.f32(1.0f), result);
  return t.select(t.eq(y, t.f32(0.0f)), t.f32(1.0f), result);
}

}  // namespace relay::loops::math
