#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

// The pieces that the functions of loops/math64.h are made of, over the same target.
namespace relay::loops::math64::detail {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kSignBit = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kOneBits = 0x3ff0000000000000;
constexpr std::int64_t kRootHalfBits = 0x3fe6a09e667f3bcd;
constexpr std::int64_t kMantissa = 0x000fffffffffffff;

// (x + kRound) - kRound is x rounded to an integer, to nearest even, for |x| < 2^51; the low bits
// of x + kRound then are that integer.
constexpr double kRound = 0x1.8p52;

constexpr double kLog2e = 0x1.71547652b82fep0;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
// kLn2Hi has 42 bits, so that its product with an exponent is exact.
constexpr double kLn2Hi = 0x1.62e42fefa38p-1;
constexpr double kLn2Lo = 0x1.ef35793c7673p-45;
// In two parts each: the first one of few bits, so that its product with an exponent or with 26
// bits is exact.
constexpr double kLog2eHi = 0x1.7154764p0;
constexpr double kLog2eLo = 0x1.2b82fe1777d1p-28;
constexpr double kLog10eHi = 0x1.bcb7b14p-2;
constexpr double kLog10eLo = 0x1.26e50e32a6ab7p-30;
constexpr double kLog10Of2Hi = 0x1.34413509f78p-2;
constexpr double kLog10Of2Lo = 0x1.fef311f12b358p-46;
// A quarter turn, pi / 2, in two parts.
constexpr double kQuarterHi = 0x1.921fb54442d18p0;
constexpr double kQuarterLo = 0x1.1a62633145c07p-54;

// terms[0] + x terms[1] + x^2 terms[2] ..., pair by pair (Estrin's scheme): few of the steps wait
// for each other.
template <class T, std::size_t N>
typename T::F sum_of_powers(T& t, typename T::F x, const std::array<typename T::F, N>& terms) {
  if constexpr (N == 1) {
    return terms[0];
  } else {
    std::array<typename T::F, (N + 1) / 2> pairs{};
    for (std::size_t i = 0; i < N / 2; ++i) {
      pairs[i] = t.fma(terms[2 * i + 1], x, terms[2 * i]);
    }
    if constexpr (N % 2 == 1) pairs[N / 2] = terms[N - 1];
    if constexpr (N == 2) return pairs[0];
    return sum_of_powers(t, t.mul(x, x), pairs);
  }
}

template <class T, std::size_t N>
typename T::F poly(T& t, typename T::F x, const std::array<double, N>& c) {
  std::array<typename T::F, N> terms{};
  for (std::size_t i = 0; i < N; ++i) terms[i] = t.f64(c[i]);
  return sum_of_powers(t, x, terms);
}

// These keep a NaN in x.
template <class T>
typename T::F at_most(T& t, typename T::F x, double high) {
  return t.select(t.lt(t.f64(high), x), t.f64(high), x);
}

template <class T>
typename T::F at_least(T& t, typename T::F x, double low) {
  return t.select(t.lt(x, t.f64(low)), t.f64(low), x);
}

// `magnitude`, whose sign bit is clear, with the sign of `sign`.
template <class T>
typename T::F with_sign(T& t, typename T::F magnitude, typename T::F sign) {
  return t.from_bits(t.ior(t.bits(magnitude), t.iand(t.bits(sign), t.i64(kSignBit))));
}

// A natural number below 2^52 as a float64, less `bias`.
template <class T>
typename T::F natural_less(T& t, typename T::I n, typename T::F bias) {
  const auto shifted = t.from_bits(t.ior(n, t.i64(0x4330000000000000)));  // n + 2^52
  return t.sub(shifted, bias);
}

// What a rounded sum a + b lost, for |a| >= |b| or a that ends no lower than b.
template <class T>
typename T::F lost(T& t, typename T::F a, typename T::F b, typename T::F sum) {
  return t.add(t.sub(a, sum), b);
}

// `x` with the last 27 of its 53 bits cleared.
template <class T>
typename T::F upper_half(T& t, typename T::F x) {
  return t.from_bits(t.iand(t.bits(x), t.i64(-(std::int64_t{1} << 27))));
}

// --- the exponential ---

// e^r = 1 + r + r^2 * (this), for |r| <= ln(2) / 2.
constexpr std::array kExpTail = {0.5,
                                 0.16666666666666677,
                                 0.041666666666666505,
                                 0.0083333333333216741,
                                 0.0013888888888962474,
                                 0.00019841269886015258,
                                 2.4801587172402014e-05,
                                 2.7557244318956746e-06,
                                 2.7557402702539645e-07,
                                 2.5108999904173611e-08,
                                 2.0875328880238779e-09};

// x = n ln 2 + r with |r| <= ln(2) / 2, for |x| < 2^10, and e^r = 1 + first + rest: `first` is r
// but for the last bits, and exact.
template <class T>
struct ExpParts {
  typename T::I biased;  // n + bias in the low 12 bits
  typename T::F first, rest;
};

template <class T>
ExpParts<T> exp_parts(T& t, typename T::F x, int bias) {
  const auto round = t.f64(kRound + bias);
  const auto rounded = t.fma(x, t.f64(kLog2e), round);
  const auto n = t.sub(rounded, round);
  const auto first = t.fma(n, t.f64(-kLn2Hi), x);
  const auto low = t.mul(n, t.f64(-kLn2Lo));
  const auto r = t.add(first, low);
  return {t.bits(rounded), first, t.fma(t.mul(r, r), poly(t, r, kExpTail), low)};
}

// 2^n from n + 1023 in the low 12 bits, as a normal number.
template <class T>
typename T::F pow2_of_biased(T& t, typename T::I biased) {
  return t.from_bits(t.shl(biased, 52));
}

// x * 2^n for n + 2046 in the low 12 bits of `biased`; n may reach beyond the exponents of normal
// numbers at both ends.
template <class T>
typename T::F scaled_twice(T& t, typename T::F x, typename T::I biased) {
  const auto half = t.lshr(biased, 1);
  return t.mul(t.mul(x, pow2_of_biased(t, half)), pow2_of_biased(t, t.isub(biased, half)));
}

// e^|x| / 4 is scale + scaled_p; NaN for NaN, and beyond float64 / 4 for infinity. A quarter, so
// that all is finite where sinh and cosh are.
template <class T>
struct QuarterExp {
  typename T::F scale, scaled_p;
  typename T::F inverse;  // e^-|x| / 4
};

template <class T>
QuarterExp<T> quarter_exp(T& t, typename T::F x) {
  const auto parts = exp_parts(t, at_most(t, t.abs(x), 710.5), 1021);
  const auto scale = pow2_of_biased(t, parts.biased);
  const auto scaled_p = t.mul(scale, t.add(parts.first, parts.rest));
  return {scale, scaled_p, t.div(t.f64(0.0625), t.add(scale, scaled_p))};
}

// --- logarithms ---

// x = 2^e (1 + f), with 1 + f between the roots of 1/2 and 2, for x > 0; log(1 + f) is f -
// half_square + tail.
template <class T>
struct LogParts {
  typename T::F e, f, half_square, tail;
};

// The same from f.
template <class T>
LogParts<T> log_parts_of(T& t, typename T::F e, typename T::F f) {
  // log((1 + s) / (1 - s)) = 2s + s^3 * (this)
  constexpr std::array kTail = {0.6666666666666734,  0.3999999999941638,  0.28571428742012356,
                                0.22222198611188146, 0.18183562383018395, 0.15314099422624106,
                                0.14795469010917894};
  const auto half_square = t.mul(t.mul(f, f), t.f64(0.5));
  const auto s = t.div(f, t.add(f, t.f64(2.0)));
  const auto z = t.mul(s, s);
  return {e, f, half_square, t.mul(s, t.fma(z, poly(t, z, kTail), half_square))};
}

template <class T>
struct Binary {
  typename T::F e;      // less e_bias
  typename T::F m;      // between the roots of 1/2 and 2
  typename T::I power;  // e << 52
};

// x = 2^e m, for a normal x > 0; `e_bias` is subtracted from e.
template <class T>
Binary<T> binary_parts(T& t, typename T::F x, typename T::F e_bias) {
  const auto above = t.isub(t.bits(x), t.i64(kRootHalfBits));
  const auto rest = t.iand(above, t.i64(kMantissa));
  const auto biased = t.lshr(t.iadd(above, t.i64(std::int64_t{1024} << 52)), 52);
  return {natural_less(t, biased, t.add(e_bias, t.f64(0x1p52 + 1024))),
          t.from_bits(t.iadd(rest, t.i64(kRootHalfBits))), t.isub(above, rest)};
}

template <class T>
LogParts<T> log_parts(T& t, typename T::F x) {
  const auto denormal = t.lt(x, t.f64(0x1p-1022));
  const auto scaled = t.select(denormal, t.mul(x, t.f64(0x1p54)), x);
  const auto parts = binary_parts(t, scaled, t.select(denormal, t.f64(54.0), t.f64(0.0)));
  return log_parts_of(t, parts.e, t.sub(parts.m, t.f64(1.0)));
}

// The natural logarithm, of which `more` / (1 + f) more is known. Small to large.
template <class T>
typename T::F natural_log(T& t, const LogParts<T>& parts, typename T::F more) {
  const auto low = t.fma(parts.e, t.f64(kLn2Lo), more);
  const auto small = t.sub(parts.half_square, t.add(parts.tail, low));
  return t.fma(parts.e, t.f64(kLn2Hi), t.sub(parts.f, small));
}

// `result`, or what a logarithm is where log_parts has no meaning.
template <class T>
typename T::F log_at_ends(T& t, typename T::F x, typename T::F result) {
  result = t.select(t.lt(x, t.f64(kInf)), result, x);
  result = t.select(t.lt(x, t.f64(0.0)), t.f64(kNan), result);
  return t.select(t.eq(x, t.f64(0.0)), t.f64(-kInf), result);
}

// f - f^2/2 as the sum of `high`, of 26 bits, and of what is left with the tail.
template <class T>
struct SplitLog {
  typename T::F high, low;
};

template <class T>
SplitLog<T> split_log(T& t, const LogParts<T>& parts) {
  const auto high = upper_half(t, t.sub(parts.f, parts.half_square));
  const auto left = t.sub(t.sub(parts.f, high), parts.half_square);
  return {high, t.add(left, parts.tail)};
}

// log(1 + w), and a little more: log(1 + w + more) for |more| at most a few units in the last place
// of w; times 2^e. Finite w > -1.
template <class T>
typename T::F log1p_of(T& t, typename T::F w, typename T::F more, typename T::F minus_e) {
  const auto one = t.f64(1.0);
  const auto u = t.add(one, w);
  const auto parts = binary_parts(t, u, minus_e);
  // What the sum lost, over 2^e; half of that power, as 2^-1024 is none.
  const auto is_large = t.lt(one, w);
  const auto off = t.select(is_large, lost(t, w, one, u), lost(t, one, w, u));
  const auto double_inverse =
      t.from_bits(t.isub(t.i64(kOneBits + (std::int64_t{1} << 52)), parts.power));
  const auto correction = t.mul(t.mul(t.add(off, more), t.f64(0.5)), double_inverse);
  // Where e is 0, f is w; elsewhere f has been rounded, and the correction matters less.
  const auto is_near = t.ieq(parts.power, t.i64(0));
  const auto f = t.select(is_near, w, t.sub(parts.m, one));
  const auto slope = t.sub(one, t.mul(f, t.f64(0.85)));  // about 1 / (1 + f)
  const auto known = t.select(is_near, more, correction);
  return natural_log(t, log_parts_of(t, parts.e, f), t.mul(known, slope));
}

// --- powers ---

// The nearest integer of x >= 0, to nearest even.
template <class T>
typename T::F nearest(T& t, typename T::F x) {
  const auto end = t.f64(0x1p52);
  return t.select(t.lt(x, end), t.sub(t.add(x, end), end), x);
}

// A number as a sum: `high`, of 26 bits, and `low`.
template <class T>
struct Pair {
  typename T::F high, low;
};

// log2 x, relative error 2^-64, for a finite x > 0.
template <class T>
Pair<T> log2_pair(T& t, typename T::F x) {
  // log((1 + s) / (1 - s)) = 2/3 s (3 + s^2 + s^4 * (this))
  constexpr std::array kTail = {0.59999999999999964, 0.42857142857167652, 0.3333333332630915,
                                0.27272728304924043, 0.23076835343928345, 0.20004474687548432,
                                0.17512257022484909, 0.17983275965467158};
  // 2/3 log2(e), in 27 bits and the rest.
  constexpr double kFactorHi = 0x1.ec709d8p-1, kFactorLo = 0x1.0e80ff5d27f05p-27;
  const auto denormal = t.lt(x, t.f64(0x1p-1022));
  const auto scaled = t.select(denormal, t.mul(x, t.f64(0x1p54)), x);
  const auto parts = binary_parts(t, scaled, t.select(denormal, t.f64(54.0), t.f64(0.0)));
  const auto f = t.sub(parts.m, t.f64(1.0));
  // s = f / (f + 2), as a pair.
  const auto below = t.add(f, t.f64(2.0));
  const auto inverse = t.div(t.f64(1.0), below);
  const auto s = t.mul(f, inverse);
  const auto s_high = upper_half(t, s);
  const auto below_high = upper_half(t, below);
  const auto below_low = t.sub(f, t.sub(below_high, t.f64(2.0)));
  const auto off = t.sub(t.sub(f, t.mul(s_high, below_high)), t.mul(s_high, below_low));
  const auto s_low = t.mul(inverse, off);
  // 3 + s^2 + ..., as a pair.
  const auto z = t.mul(s, s);
  const auto tail = t.mul(t.mul(z, z), poly(t, z, kTail));
  const auto small = t.fma(s_low, t.add(s_high, s), tail);
  const auto square = t.mul(s_high, s_high);
  const auto series = upper_half(t, t.add(t.add(t.f64(3.0), square), small));
  const auto series_low = t.sub(small, t.sub(t.sub(series, t.f64(3.0)), square));
  // Their product, and that with the factor.
  const auto first = t.mul(s_high, series);
  const auto second = t.fma(series_low, s, t.mul(s_low, series));
  const auto product = upper_half(t, t.add(first, second));
  const auto product_low = t.sub(second, t.sub(product, first));
  const auto log_m = t.mul(product, t.f64(kFactorHi));
  const auto log_m_low =
      t.fma(product_low, t.f64(kFactorHi + kFactorLo), t.mul(product, t.f64(kFactorLo)));
  const auto high = upper_half(t, t.add(t.add(parts.e, log_m), log_m_low));
  return {high, t.sub(log_m_low, t.sub(t.sub(high, parts.e), log_m))};
}

// 2^(x y) for finite y.
template <class T>
typename T::F exp2_of_product(T& t, const Pair<T>& x, typename T::F y) {
  constexpr double kLn2First = 0x1.62e42fcp-1, kLn2Rest = 0x1.7d1cf79abc9e4p-28;
  const auto y_high = upper_half(t, y);
  auto high = t.mul(y_high, x.high);  // exact
  auto low = t.fma(y, x.low, t.mul(t.sub(y, y_high), x.high));
  auto product = t.add(high, low);
  const auto is_beyond = t.lt(t.f64(1100.0), t.abs(product));
  const auto end = at_least(t, at_most(t, product, 1100.0), -1100.0);
  product = t.select(is_beyond, end, product);
  high = t.select(is_beyond, end, high);
  low = t.select(is_beyond, t.f64(0.0), low);
  const auto round = t.f64(kRound + 2046);
  const auto rounded = t.add(product, round);
  const auto fraction = t.sub(high, t.sub(rounded, round));  // exact
  const auto fraction_high = upper_half(t, fraction);
  const auto first = t.mul(fraction_high, t.f64(kLn2First));  // exact
  const auto fraction_low = t.add(t.sub(fraction, fraction_high), low);
  const auto second = t.fma(fraction_high, t.f64(kLn2Rest), t.mul(fraction_low, t.f64(kLn2)));
  const auto r = t.add(first, second);
  const auto square = t.mul(r, r);
  const auto rest = t.fma(square, poly(t, r, kExpTail), second);
  return scaled_twice(t, t.add(t.f64(1.0), t.add(first, rest)), t.bits(rounded));
}

// --- turns ---

// x = quarters * pi / 2 + high + low, for 0 <= x <= largest_argument(Sin). |high| is at most pi / 4
// and a little.
template <class T>
struct Turned {
  typename T::F high, low;
  typename T::I quarters;  // in the last two bits
};

template <class T>
Turned<T> turned(T& t, typename T::F x) {
  // Of 37 bits each, so that products with up to 2^16 quarter turns are exact.
  constexpr double kFirst = 0x1.921fb5444p0, kSecond = 0x1.68c234c4cp-39;
  constexpr double kThird = 0x1.98a2e03707345p-77;
  const auto rounded = t.fma(x, t.f64(0x1.45f306dc9c883p-1), t.f64(kRound));
  const auto n = t.sub(rounded, t.f64(kRound));
  const auto first = t.sub(x, t.mul(n, t.f64(kFirst)));  // exact
  const auto second = t.mul(n, t.f64(kSecond));
  const auto high = t.sub(first, second);
  const auto off = t.sub(t.sub(first, high), second);
  return {high, t.sub(off, t.mul(n, t.f64(kThird))), t.bits(rounded)};
}

// sin(r) = r + r^3 p(r^2), cos(r) = 1 - r^2/2 + r^4 p(r^2), up to an eighth of a turn.
constexpr std::array kSine = {-0.1666666666666663,     0.0083333333333220749,
                              -0.00019841269829552608, 2.7557313608091223e-06,
                              -2.5050745610729177e-08, 1.5896101556120928e-10};
constexpr std::array kCosine = {0.041666666666666595,   -0.0013888888888872993,
                                2.4801587288810806e-05, -2.755731416716636e-07,
                                2.0875699152004434e-09, -1.1358446972599524e-11};

// The sine of what was turned, a quarter turn further for each of `phase`. Sine and cosine are one
// polynomial whose coefficients are selected.
template <class T>
typename T::F sine_of_turned(T& t, const Turned<T>& x, int phase) {
  const auto quarters = phase == 0 ? x.quarters : t.iadd(x.quarters, t.i64(phase));
  const auto odd = t.is_negative(t.shl(quarters, 63));
  const auto z = t.mul(x.high, x.high);
  const auto coefficient = [&](std::size_t i) {
    return t.select(odd, t.f64(kCosine[i]), t.f64(kSine[i]));
  };
  const auto z2 = t.mul(z, z);
  const auto add_product = [&](auto a, auto b, auto c) { return t.fma(a, b, c); };
  const auto low = add_product(add_product(coefficient(4), z2, coefficient(2)), z2, coefficient(0));
  const auto high =
      add_product(add_product(coefficient(5), z2, coefficient(3)), z2, coefficient(1));
  const auto p = add_product(high, z, low);
  // cos: 1 - z/2 with what that loses.
  const auto half = t.mul(z, t.f64(0.5));
  const auto one = t.f64(1.0);
  const auto top = t.sub(one, half);
  const auto off = t.sub(t.sub(one, top), half);
  const auto small = t.select(odd, t.sub(off, t.mul(x.high, x.low)), t.mul(x.low, top));
  const auto factor = t.mul(z, t.select(odd, z, x.high));
  const auto result = t.add(t.select(odd, top, x.high), t.fma(factor, p, small));
  return t.from_bits(t.ixor(t.bits(result), t.shl(t.iand(quarters, t.i64(2)), 62)));
}

// The tangent: a quotient of two sums, and what they lost.
template <class T>
typename T::F tangent_of_turned(T& t, const Turned<T>& x) {
  const auto z = t.mul(x.high, x.high);
  const auto half = t.mul(z, t.f64(0.5));
  const auto one = t.f64(1.0);
  const auto top = t.sub(one, half);
  const auto off = t.sub(t.sub(one, top), half);
  const auto sine_rest = t.fma(x.low, top, t.mul(t.mul(x.high, z), poly(t, z, kSine)));
  const auto cosine_rest =
      t.fma(t.mul(z, z), poly(t, z, kCosine), t.sub(off, t.mul(x.high, x.low)));
  const auto sine = t.add(x.high, sine_rest), cosine = t.add(top, cosine_rest);
  const auto sine_lost = lost(t, x.high, sine_rest, sine);
  const auto cosine_lost = lost(t, top, cosine_rest, cosine);
  const auto odd = t.is_negative(t.shl(x.quarters, 63));
  const auto above = t.select(odd, cosine, sine), below = t.select(odd, sine, cosine);
  const auto above_lost = t.select(odd, cosine_lost, sine_lost);
  const auto below_lost = t.select(odd, sine_lost, cosine_lost);
  const auto inverse = t.div(one, below);
  const auto q = t.div(above, below);
  const auto corrected = t.fma(inverse, t.sub(above_lost, t.mul(q, below_lost)), q);
  const auto finite = t.select(t.lt(t.abs(q), t.f64(kInf)), corrected, q);
  return t.from_bits(t.ixor(t.bits(finite), t.shl(t.iand(x.quarters, t.i64(1)), 63)));
}

// --- arcs ---

template <class T>
typename T::B is_above_half(T& t, typename T::F x) {
  return t.lt(t.f64(0.5), t.abs(x));
}

// asin |x| = s + small; above one half asin(sqrt((1 - |x|) / 2)), half of what is missing to a
// quarter turn. NaN for |x| > 1.
template <class T>
struct Arc {
  typename T::F s, small;
};

template <class T>
Arc<T> arc_of(T& t, typename T::F x) {
  constexpr std::array kTail = {0.16666666666666757,   0.074999999999708342, 0.044642857174612326,
                                0.030381942707740896,  0.022372214988667042, 0.017351611998081932,
                                0.013980820697189509,  0.011398911258772288, 0.010780257101584291,
                                0.0037063956061435498, 0.021707472748393693, -0.020999091050365282,
                                0.032628637193397231};
  const auto magnitude = t.abs(x);
  const auto above = is_above_half(t, x);
  // Both steps are exact.
  const auto z_above = t.mul(t.sub(t.f64(1.0), magnitude), t.f64(0.5));
  const auto z = t.select(above, z_above, t.mul(magnitude, magnitude));
  const auto s = t.select(above, t.sqrt(z_above), magnitude);
  return {s, t.mul(s, t.mul(z, poly(t, z, kTail)))};
}

}  // namespace relay::loops::math64::detail
