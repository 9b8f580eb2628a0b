#include "loops/large_angle.h"

#include <array>
#include <bit>

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
__extension__ using DoubleWord = unsigned __int128;

// 64 bits of the table from bit `at` on.
Word bits_from(int at) {
  const auto word = [&](int i) { return Word{kTwoOverPiBits[static_cast<std::size_t>(i)]}; };
  const int first = at / 32, shift = at % 32;
  const Word whole = word(first) << 32 | word(first + 1);
  return whole << shift | word(first + 2) >> (32 - shift);
}

Word upper(DoubleWord x) { return static_cast<Word>(x >> 64); }

// A natural number below 2^63.
double to_double(Word x) { return static_cast<double>(static_cast<std::int64_t>(x)); }

}  // namespace

LargeAngle reduce_large_angle(double x) {
  const auto bits = std::bit_cast<Word>(x);
  const Word mantissa = (bits & ((Word{1} << 52) - 1)) | Word{1} << 52;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1075;  // x = mantissa * 2^exponent
  // 192 bits of 2/pi, from the first one on whose product with x is no multiple of 4 quarter turns;
  // what follows them would change 2^-139 of a turn. The product, modulo 4, has its point behind
  // two bits.
  const int at = 64 + exponent - 2;
  const DoubleWord low = static_cast<DoubleWord>(bits_from(at + 128)) * mantissa;
  const DoubleWord middle = static_cast<DoubleWord>(bits_from(at + 64)) * mantissa + upper(low);
  const Word first = bits_from(at) * mantissa + upper(middle);
  const Word second = static_cast<Word>(middle);
  // The fraction, in 128 bits, from -1/2 to 1/2: a sign and a magnitude (the last bit does not
  // matter). No branches, which nobody could predict.
  const Word fraction = first << 2 | second >> 62;
  const Word sign = fraction >> 63;
  const Word high = fraction ^ (0 - sign);
  const Word rest = (second << 2 | static_cast<Word>(low) >> 62) ^ (0 - sign);
  const auto quarters = static_cast<std::int64_t>((first >> 62) + sign);
  // No float64 is nearer to a multiple of a quarter turn than 2^-62: `high` is not 0.
  const int zeros = std::countl_zero(high);
  const Word top = high << zeros | rest >> 1 >> (63 - zeros);
  const Word left = rest << zeros;
  // 2^-64 of a quarter turn, less the zeros, with the sign.
  const auto unit = std::bit_cast<double>(static_cast<Word>(1023 - 64 - zeros) << 52 | sign << 63);
  // As a sum: 26 bits, 27 bits and the rest.
  constexpr int kFirst = 38, kSecond = 11;
  const double a1 = to_double(top >> kFirst) * 0x1p38 * unit;
  const double a2 =
      to_double((top >> kSecond) & ((Word{1} << (kFirst - kSecond)) - 1)) * 0x1p11 * unit;
  const double b = to_double((top << 53 | left >> 11) >> 1) * 0x1p-52 * unit;
  // Times pi / 2, of which there are 26 bits, 27 bits and the rest too: four products are exact.
  constexpr double kQuarter1 = 0x1.921fb5p0, kQuarter2 = 0x1.110b46p-26,
                   kRest = 0x1.1a62633145c07p-54;
  constexpr double kQuarter = kQuarter1 + kQuarter2;
  const double a = a1 + a2;
  const double turned = a * kQuarter;
  const double off = ((a1 * kQuarter1 - turned) + a1 * kQuarter2 + a2 * kQuarter1) + a2 * kQuarter2;
  return {turned, off + (a * kRest + b * kQuarter), quarters};
}

}  // namespace relay::loops
