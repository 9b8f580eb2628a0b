#pragma once

#include <array>
#include <limits>

#include "lang/primitive.h"
#include "loops/math64_parts.h"

// The float64 math functions, written once for both back ends, like those in float32 of
// loops/math.h: templates over a target that computes (NativeF64 in loops/math_native.h) or emits
// code. Every step is an exactly rounded IEEE 754 operation, in the order written here.
//
// Promises, for every float64 of magnitude up to largest_argument (all but for sin, cos and tan):
//   - the error bound that stands in loops/math.def, at most 2 units in the last place;
//   - the results of C's Annex F for 0, -0, infinities and NaN; odd functions are odd bit for bit;
//   - a NaN result is some NaN: its sign and payload are not specified.
// No branches, tables or calls: a loop over any of these vectorises. The functions of
// loops/math_f64.h are these, complete.
//
// A target T has three types, which may be one and the same: F (float64), I (int64) and B (truth),
// each a lane or a vector of lanes. Operations are as in loops/math.h:
//
//   F f64(double)    I i64(int64_t)    constants
//   F add sub mul div(F, F)    F abs sqrt(F)    F fma(F, F, F)
//   B lt eq(F, F)    F select(B, F, F)
//   I bits(F)    F from_bits(I)
//   I iadd isub iand ior ixor(I, I)    I shl lshr(I, int)    lshr shifts in zeros
//   B ieq(I, I)    B is_negative(I)
//
// tools/minimax.py prints the coefficients.
namespace relay::loops::math64 {

// Beyond this magnitude `prim`'s function here has no meaning; infinite for most.
constexpr double largest_argument(lang::Prim prim) {
  const bool turns = prim == lang::Prim::Sin || prim == lang::Prim::Cos || prim == lang::Prim::Tan;
  return turns ? 1e5 : std::numeric_limits<double>::infinity();
}

template <class T>
typename T::F exp(T& t, typename T::F x) {
  using namespace detail;
  // Outside these bounds the result is 0 or infinite, as it is at them.
  const auto parts = exp_parts(t, at_least(t, at_most(t, x, 710.0), -746.0), 2046);
  const auto power = t.add(t.f64(1.0), t.add(parts.first, parts.rest));
  return scaled_twice(t, power, parts.biased);
}

template <class T>
typename T::F expm1(T& t, typename T::F x) {
  using namespace detail;
  // -1 or infinity at the bounds and beyond.
  const auto parts = exp_parts(t, at_least(t, at_most(t, x, 710.0), -40.0), 1022);
  // (2^n - 1) + 2^n r + 2^n (the rest), halved: 2^n itself may be infinite.
  const auto scale = pow2_of_biased(t, parts.biased);
  const auto large = t.fma(scale, parts.first, t.sub(scale, t.f64(0.5)));
  const auto result = t.fma(scale, parts.rest, large);
  // Halving loses a bit of a denormal, and the sum the sign of -0.
  return t.select(t.lt(t.abs(x), t.f64(0x1p-54)), x, t.add(result, result));
}

template <class T>
typename T::F log(T& t, typename T::F x) {
  using namespace detail;
  return log_at_ends(t, x, natural_log(t, log_parts(t, x), t.f64(0.0)));
}

template <class T>
typename T::F log1p(T& t, typename T::F x) {
  using namespace detail;
  const auto result = log1p_of(t, x, t.f64(0.0), t.f64(0.0));
  const auto ended = log_at_ends(t, t.add(x, t.f64(1.0)), result);
  return t.select(t.lt(t.abs(x), t.f64(0x1p-54)), x, ended);
}

template <class T>
typename T::F log2(T& t, typename T::F x) {
  using namespace detail;
  const auto parts = log_parts(t, x);
  const auto [high, low] = split_log(t, parts);
  const auto first = t.mul(high, t.f64(kLog2eHi));  // exact
  const auto rest = t.fma(low, t.f64(kLog2eHi), t.mul(t.add(low, high), t.f64(kLog2eLo)));
  const auto sum = t.add(parts.e, first);
  return log_at_ends(t, x, t.add(t.add(rest, lost(t, parts.e, first, sum)), sum));
}

template <class T>
typename T::F log10(T& t, typename T::F x) {
  using namespace detail;
  const auto parts = log_parts(t, x);
  const auto [high, low] = split_log(t, parts);
  const auto first = t.mul(high, t.f64(kLog10eHi));  // exact, and so is this:
  const auto whole = t.mul(parts.e, t.f64(kLog10Of2Hi));
  auto rest = t.fma(low, t.f64(kLog10eHi), t.mul(t.add(low, high), t.f64(kLog10eLo)));
  rest = t.fma(parts.e, t.f64(kLog10Of2Lo), rest);
  const auto sum = t.add(whole, first);
  return log_at_ends(t, x, t.add(t.add(rest, lost(t, whole, first, sum)), sum));
}

// (e^2x - 1) / (e^2x + 1), both divided by e^2x's power of two, and what their sums lost; from 1 on
// 1 - 2 / (e^2x + 1), which is monotone where it saturates.
template <class T>
typename T::F tanh(T& t, typename T::F x) {
  using namespace detail;
  const auto magnitude = at_most(t, t.abs(x), 22.0);  // 1 from 19.1 on
  const auto parts = exp_parts(t, t.add(magnitude, magnitude), 0);
  const auto scale = pow2_of_biased(t, t.isub(t.i64(1023), parts.biased));
  const auto one = t.f64(1.0);
  struct Sum {
    typename T::F value, lost;
  };
  const auto plus_parts = [&](typename T::F whole) {
    const auto most = t.add(whole, parts.first);
    const auto all = t.add(most, parts.rest);
    const auto off = t.add(lost(t, whole, parts.first, most), lost(t, most, parts.rest, all));
    return Sum{all, off};
  };
  const Sum above = plus_parts(t.sub(one, scale)), below = plus_parts(t.add(one, scale));
  const auto is_large = t.lt(one, magnitude);
  const auto q = t.div(t.select(is_large, t.add(scale, scale), above.value), below.value);
  // 1 / below, to a third, is enough.
  const auto inverse = t.sub(t.f64(1.7), t.mul(below.value, t.f64(0.59)));
  const auto correction = t.mul(t.sub(above.lost, t.mul(q, below.lost)), inverse);
  const auto result = t.select(is_large, t.sub(one, q), t.add(q, correction));
  return with_sign(t, result, x);
}

// 1 / (1 + e^-x), with numerator and denominator scaled by 2^-60: e^-x may be beyond float64 where
// the quotient is still a denormal.
template <class T>
typename T::F sigmoid(T& t, typename T::F x) {
  using namespace detail;
  const auto one = t.f64(0x1p-60);
  // 1 from 37 on, 0 below -746.
  const auto clamped = at_least(t, at_most(t, x, 40.0), -746.0);
  const auto parts = exp_parts(t, t.sub(t.f64(0.0), clamped), 1023 - 60);
  const auto scale = pow2_of_biased(t, parts.biased);
  const auto sum = t.add(scale, one);
  const auto off = lost(t, scale, one, sum);
  const auto p = t.add(parts.first, parts.rest);
  return t.div(one, t.add(sum, t.fma(scale, p, off)));
}

template <class T>
typename T::F rsqrt(T& t, typename T::F x) {
  return t.div(t.f64(1.0), t.sqrt(x));
}

template <class T>
typename T::F sin(T& t, typename T::F x) {
  using namespace detail;
  const auto result = sine_of_turned(t, turned(t, t.abs(x)), 0);
  return t.from_bits(t.ixor(t.bits(result), t.iand(t.bits(x), t.i64(kSignBit))));
}

template <class T>
typename T::F cos(T& t, typename T::F x) {
  using namespace detail;
  return sine_of_turned(t, turned(t, t.abs(x)), 1);
}

template <class T>
typename T::F tan(T& t, typename T::F x) {
  using namespace detail;
  const auto result = tangent_of_turned(t, turned(t, t.abs(x)));
  return t.from_bits(t.ixor(t.bits(result), t.iand(t.bits(x), t.i64(kSignBit))));
}

template <class T>
typename T::F asin(T& t, typename T::F x) {
  using namespace detail;
  const auto [s, small] = arc_of(t, x);
  const auto quarter = t.f64(kQuarterHi), minus_twice = t.mul(s, t.f64(-2.0));
  const auto most = t.add(quarter, minus_twice);
  const auto off = t.add(lost(t, quarter, minus_twice, most), t.f64(kQuarterLo));
  const auto from_quarter = t.add(most, t.sub(off, t.add(small, small)));
  return with_sign(t, t.select(is_above_half(t, x), from_quarter, t.add(s, small)), x);
}

template <class T>
typename T::F acos(T& t, typename T::F x) {
  using namespace detail;
  const auto [s, small] = arc_of(t, x);
  const auto angle = t.add(s, small);
  const auto twice = t.add(angle, angle);
  const auto from_half = t.sub(t.f64(2 * kQuarterHi), t.sub(twice, t.f64(2 * kQuarterLo)));
  const auto above = t.select(t.lt(x, t.f64(0.0)), from_half, twice);
  const auto below = t.sub(t.f64(kQuarterHi), t.sub(with_sign(t, angle, x), t.f64(kQuarterLo)));
  return t.select(is_above_half(t, x), above, below);
}

// Turned by atan of 1/2 or 1, or by a quarter of a circle, so that atan is left of a ratio of at
// most 7/16.
template <class T>
typename T::F atan(T& t, typename T::F x) {
  using namespace detail;
  constexpr std::array kTail = {-0.33333333333333309,  0.19999999999992857,   -0.14285714284828877,
                                0.1111111105544481,    -0.090909070325011901, 0.076922590598554871,
                                -0.066658966137921744, 0.058739689483436962,  -0.051998272793249353,
                                0.04432063667355754,   -0.031897734578591699, 0.013676344223871973};
  constexpr double kHalfHi = 0x1.dac670561bb4fp-2, kHalfLo = 0x1.a2b7f222f65e2p-56;
  const auto a = t.abs(x);
  const auto one = t.f64(1.0), half = t.f64(0.5);
  const auto low = t.lt(a, t.f64(0.4375)), middle = t.lt(a, t.f64(0.6875));
  const auto high = t.lt(t.f64(2.4142135623730951), a);
  const auto choose = [&](typename T::F if_low, typename T::F if_middle, typename T::F if_high,
                          typename T::F otherwise) {
    return t.select(low, if_low, t.select(middle, if_middle, t.select(high, if_high, otherwise)));
  };
  const auto above = choose(a, t.sub(a, half), t.f64(-1.0), t.sub(a, one));
  const auto below = choose(one, t.fma(a, half, one), a, t.add(a, one));
  const auto turned = choose(t.f64(0.0), t.f64(kHalfHi), t.f64(kQuarterHi), t.f64(kQuarterHi / 2));
  const auto rest = choose(t.f64(0.0), t.f64(kHalfLo), t.f64(kQuarterLo), t.f64(kQuarterLo / 2));
  const auto s = t.div(above, below);
  const auto z = t.mul(s, s);
  const auto small = t.fma(s, t.mul(z, poly(t, z, kTail)), rest);
  return with_sign(t, t.add(turned, t.add(s, small)), x);
}

template <class T>
typename T::F sinh(T& t, typename T::F x) {
  using namespace detail;
  constexpr std::array kTail = {0.16666666666666666,    0.0083333333333333332,
                                0.000198412698412696,   2.7557319224116285e-06,
                                2.5052108346509528e-08, 1.6059050601208051e-10,
                                7.6464828985764135e-13, 2.8482329484840787e-15};
  const auto a = t.abs(x);
  const auto [scale, scaled_p, inverse] = quarter_exp(t, x);
  const auto half = t.add(scale, t.sub(scaled_p, inverse));
  const auto z = t.mul(a, a);
  const auto low = t.fma(a, t.mul(z, poly(t, z, kTail)), a);
  return with_sign(t, t.select(t.lt(a, t.f64(1.0)), low, t.add(half, half)), x);
}

template <class T>
typename T::F cosh(T& t, typename T::F x) {
  const auto [scale, scaled_p, inverse] = detail::quarter_exp(t, x);
  const auto half = t.add(scale, t.add(scaled_p, inverse));
  return t.add(half, half);
}

// asinh a = log(1 + a + a^2 / (1 + sqrt(1 + a^2))); of large a, log 2a.
template <class T>
typename T::F asinh(T& t, typename T::F x) {
  using namespace detail;
  const auto a = t.abs(x);
  const auto one = t.f64(1.0);
  const auto is_large = t.lt(t.f64(0x1p60), a);
  const auto square = t.mul(a, a);
  const auto more = t.div(square, t.add(one, t.sqrt(t.add(one, square))));
  const auto sum = t.add(a, more);
  const auto w = t.select(is_large, a, sum);
  const auto off = t.select(is_large, t.f64(0.0), lost(t, a, more, sum));
  const auto minus_e = t.select(is_large, t.f64(-1.0), t.f64(0.0));
  const auto result = t.select(t.lt(a, t.f64(0x1p-28)), a, log1p_of(t, w, off, minus_e));
  return with_sign(t, t.select(t.lt(a, t.f64(kInf)), result, a), x);
}

// acosh x = log(1 + t + sqrt(2t + t^2)) for t = x - 1; of large x, log 2x.
template <class T>
typename T::F acosh(T& t, typename T::F x) {
  using namespace detail;
  const auto less = t.sub(x, t.f64(1.0));
  const auto is_large = t.lt(t.f64(0x1p60), x);
  const auto root = t.sqrt(t.mul(less, t.add(x, t.f64(1.0))));
  const auto sum = t.add(root, less);
  const auto w = t.select(is_large, x, sum);
  const auto off = t.select(is_large, t.f64(0.0), lost(t, root, less, sum));
  const auto minus_e = t.select(is_large, t.f64(-1.0), t.f64(0.0));
  const auto result = log1p_of(t, w, off, minus_e);
  const auto defined = t.select(t.lt(x, t.f64(1.0)), t.f64(kNan), result);
  return t.select(t.lt(x, t.f64(kInf)), defined, x);
}

// atanh a = log(1 + 2a / (1 - a)) / 2.
template <class T>
typename T::F atanh(T& t, typename T::F x) {
  using namespace detail;
  const auto a = t.abs(x);
  const auto one = t.f64(1.0);
  const auto less = t.sub(one, a);
  const auto w = t.div(t.add(a, a), less);
  auto result = t.mul(log1p_of(t, w, t.f64(0.0), t.f64(0.0)), t.f64(0.5));
  result = t.select(t.lt(a, t.f64(0x1p-28)), a, result);
  result = t.select(t.eq(a, one), t.f64(kInf), result);
  return with_sign(t, t.select(t.lt(one, a), t.f64(kNan), result), x);
}

template <class T>
typename T::F erf(T& t, typename T::F x) {
  using namespace detail;
  constexpr std::array kLow = {
      0.12837916709551259,     -0.37612638903183748,    0.11283791670954856,
      -0.026866170645072889,   0.0052239776247808983,   -0.00085483269787432704,
      0.00012055331036937886,  -1.4925593507837141e-05, 1.6460972832455548e-06,
      -1.6350025388210553e-07, 1.4657880967965368e-08,  -1.1365670359670151e-09,
      5.9452692678586859e-11};
  constexpr std::array kHigh = {
      -2.6599336668513631e-07, -1.6279043097456147,     -0.9184610729444862,
      -0.14823207402682087,    0.027522233310100393,    0.0004071633384607059,
      -0.0025548977798069677,  0.00092740605417970866,  -6.6295316327209504e-05,
      -0.00010063161444655438, 6.4590733113394146e-05,  -2.3691699138679601e-05,
      6.2062998658821645e-06,  -1.2193863516293606e-06, 1.8009778611699356e-07,
      -1.9509024855316027e-08, 1.4673343095485295e-09,  -6.855481431082176e-11,
      1.4990792864654185e-12};
  const auto a = at_most(t, t.abs(x), 6.0);  // 1 from 5.93 on
  const auto z = t.mul(a, a);
  // Below 1: x + x p(x^2).
  const auto low = t.fma(a, poly(t, z, kLow), a);
  // Above: 1 - 2^q(x). The last bits of 2^q hardly matter.
  const auto q = t.mul(poly(t, a, kHigh), t.f64(kLn2));
  const auto parts = exp_parts(t, q, 1023);
  const auto scale = pow2_of_biased(t, parts.biased);
  const auto power = t.fma(scale, t.add(parts.first, parts.rest), scale);
  const auto high = t.sub(t.f64(1.0), power);
  return with_sign(t, t.select(t.lt(a, t.f64(1.0)), low, high), x);
}

// |x|^y is 2^(y log2 |x|), then the sign.
template <class T>
typename T::F pow(T& t, typename T::F x, typename T::F y) {
  using namespace detail;
  const auto zero = t.f64(0.0), one = t.f64(1.0), inf = t.f64(kInf);
  const auto base = t.abs(x);
  // Finite, and large enough to overflow all the same.
  const auto finite_y = at_least(t, at_most(t, y, 0x1p70), -0x1p70);
  auto power = exp2_of_product(t, log2_pair(t, base), finite_y);
  const auto is_negative_y = t.lt(y, zero);
  power = t.select(t.eq(base, zero), t.select(is_negative_y, inf, zero), power);
  power = t.select(t.eq(base, inf), t.select(is_negative_y, zero, inf), power);
  power = t.select(t.eq(base, base), t.select(t.eq(y, y), power, y), base);
  // Odd y, and no other, keeps the sign of x, also of 0.
  const auto magnitude = t.abs(y);
  const auto half = t.mul(magnitude, t.f64(0.5));
  const auto is_odd = t.eq(t.abs(t.sub(half, nearest(t, half))), t.f64(0.5));
  const auto sign = t.from_bits(t.iand(t.bits(x), t.i64(kSignBit)));
  auto result = t.from_bits(t.ior(t.bits(power), t.bits(t.select(is_odd, sign, zero))));
  // A finite negative number to a power that is no integer.
  const auto undefined = t.select(t.lt(base, inf), t.f64(kNan), result);
  const auto is_whole = t.eq(nearest(t, magnitude), magnitude);
  result = t.select(t.lt(x, zero), t.select(is_whole, result, undefined), result);
  // Exactly, as where the exponent is known (NodeFactory::primitive).
  result = t.select(t.eq(y, one), x, result);
  result = t.select(t.eq(y, t.f64(2.0)), t.mul(x, x), result);
  // 1^y and x^0 are 1 even for NaN.
  result = t.select(t.eq(x, one), one, result);
  return t.select(t.eq(y, zero), one, result);
}

}  // namespace relay::loops::math64
