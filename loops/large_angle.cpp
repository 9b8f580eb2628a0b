#include "loops/large_angle.h"

#include <array>
#include <bit>
#include <cmath>

namespace relay::loops {
namespace {

// The bits of 2/pi, behind 64 zeros.
constexpr std::array<std::uint32_t, 42> kTwoOverPiBits = {
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599,
    0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
    0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639,
    0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f,
    0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7,
    0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d};

using Word = std::uint64_t;

// 64 bits of the table from bit `at` on.
Word bits_from(int at) {
  const auto word = [&](int i) { return Word{kTwoOverPiBits[static_cast<std::size_t>(i)]}; };
  const int first = at / 32, shift = at % 32;
  const Word whole = word(first) << 32 | word(first + 1);
  return shift == 0 ? whole : whole << shift | word(first + 2) >> (32 - shift);
}

// Both halves of a product.
struct Product {
  Word high, low;
};

Product multiply(Word a, Word b) {
  const Word a1 = a >> 32, a0 = a & 0xffffffff, b1 = b >> 32, b0 = b & 0xffffffff;
  const Word middle = a1 * b0 + (a0 * b0 >> 32);
  const Word rest = a0 * b1 + (middle & 0xffffffff);
  return {a1 * b1 + (middle >> 32) + (rest >> 32), a * b};
}

}  // namespace

LargeAngle reduce_large_angle(double x) {
  const auto bits = std::bit_cast<Word>(x);
  const Word mantissa = (bits & ((Word{1} << 52) - 1)) | Word{1} << 52;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1075;  // x = mantissa * 2^exponent
  // 192 bits of 2/pi, from the first one on whose product with x is no multiple of 4 quarter turns;
  // what follows them would change 2^-139 of a turn. The product, modulo 4, has its point behind
  // two bits.
  const int at = 64 + exponent - 2;
  const Product low = multiply(bits_from(at + 128), mantissa);
  const Product middle = multiply(bits_from(at + 64), mantissa);
  const Word second = low.high + middle.low;
  const Word first = bits_from(at) * mantissa + middle.high + static_cast<Word>(second < low.high);
  // The fraction, in 128 bits, from -1/2 to 1/2.
  Word high = first << 2 | second >> 62, rest = second << 2 | low.low >> 62;
  auto quarters = static_cast<std::int64_t>(first >> 62);
  const bool is_negative = high >> 63 != 0;
  if (is_negative) {
    ++quarters;
    rest = ~rest + 1;
    high = ~high + static_cast<Word>(rest == 0);
  }
  // No float64 is nearer to a multiple of a quarter turn than 2^-62: `high` is not 0.
  const int zeros = std::countl_zero(high);
  if (zeros != 0) {
    high = high << zeros | rest >> (64 - zeros);
    rest <<= zeros;
  }
  const double unit = std::ldexp(is_negative ? -1.0 : 1.0, -64 - zeros);
  const double a = static_cast<double>(high >> 11) * 0x1p11 * unit;
  const double b = static_cast<double>(high << 53 | rest >> 11) * 0x1p-53 * unit;
  // Times pi / 2. The fused product is exact, in software too.
  constexpr double kQuarterHi = 0x1.921fb54442d18p0, kQuarterLo = 0x1.1a62633145c07p-54;
  const double turned = a * kQuarterHi;
  return {turned, std::fma(a, kQuarterHi, -turned) + (a * kQuarterLo + b * kQuarterHi), quarters};
}

}  // namespace relay::loops
