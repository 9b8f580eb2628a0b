#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "lang/dtype.h"
#include "lang/primitive.h"
#include "loops/is_math.h"
#include "loops/math.h"
#include "loops/math64.h"
#include "loops/math_f32.h"
#include "loops/math_f64.h"
#include "loops/math_native.h"

// What each scalar primitive computes, as templates: the one source of the evaluator's scalar path
// and of the lanes. Nothing here branches where a vector loop could select. Compile with
// -ffp-contract=off.
namespace relay::interp::ops {

using lang::DType;
using lang::Prim;
using loops::is_math;

// --- Elements: how a dtype lies in memory and what it is computed in ---

// Exact: denormals included.
inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(half & 0x7fff) << 13;
  // The exponent is off by 112; a product gets denormals right too.
  const float finite = std::bit_cast<float>(rest) * 0x1p112f;
  const std::uint32_t magnitude =
      rest >= 0x0f800000 ? (rest | 0x7f800000) : std::bit_cast<std::uint32_t>(finite);
  return std::bit_cast<float>(magnitude | sign);
}

// To nearest even. Every NaN becomes a quiet one.
inline std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  // In [0.5, 1) one unit in the last place is 2^-24, the spacing of half's denormals.
  const std::uint32_t small =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const std::uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  const std::uint32_t normal = (rounded >> 13) - (112u << 10);
  std::uint32_t result = magnitude < 0x38800000 ? small : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;  // from 65520 on
  result = magnitude > 0x7f800000 ? 0x7e00 : result;
  return static_cast<std::uint16_t>(result | ((bits >> 16) & 0x8000));
}

inline float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// To nearest even. A NaN is not rounded, which could carry it into infinity.
inline std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return static_cast<std::uint16_t>((is_nan ? bits | 0x00400000 : rounded) >> 16);
}

template <class T>
struct Plain {
  using Stored = T;
  using Computed = T;
  static T load(T stored) { return stored; }
  static T store(T computed) { return computed; }
};

template <DType D>
struct Element;
template <>
struct Element<DType::Bool> : Plain<std::uint8_t> {};
template <>
struct Element<DType::Int8> : Plain<std::int8_t> {};
template <>
struct Element<DType::Int16> : Plain<std::int16_t> {};
template <>
struct Element<DType::Int32> : Plain<std::int32_t> {};
template <>
struct Element<DType::Int64> : Plain<std::int64_t> {};
template <>
struct Element<DType::UInt8> : Plain<std::uint8_t> {};
template <>
struct Element<DType::UInt16> : Plain<std::uint16_t> {};
template <>
struct Element<DType::UInt32> : Plain<std::uint32_t> {};
template <>
struct Element<DType::UInt64> : Plain<std::uint64_t> {};
template <>
struct Element<DType::Float32> : Plain<float> {};
template <>
struct Element<DType::Float64> : Plain<double> {};
template <>
struct Element<DType::Float16> {
  using Stored = std::uint16_t;
  using Computed = float;
  static float load(std::uint16_t stored) { return half_to_float(stored); }
  static std::uint16_t store(float computed) { return float_to_half(computed); }
};
template <>
struct Element<DType::BFloat16> {
  using Stored = std::uint16_t;
  using Computed = float;
  static float load(std::uint16_t stored) { return bfloat16_to_float(stored); }
  static std::uint16_t store(float computed) { return float_to_bfloat16(computed); }
};

// --- Which primitives take which dtypes ---

constexpr int arity_of(Prim prim) {
  switch (prim) {
#define RELAY_PRIMITIVE(name, text, arity, operands, result) \
  case Prim::name:                                           \
    return arity;
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
  }
  return 0;
}

constexpr lang::PrimResult result_of(Prim prim) {
  switch (prim) {
#define RELAY_PRIMITIVE(name, text, arity, operands, result) \
  case Prim::name:                                           \
    return lang::PrimResult::result;
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
  }
  return lang::PrimResult::kSame;
}

constexpr bool takes(Prim prim, DType dtype) {
  const bool is_float = dtype >= DType::Float16;
  const bool is_bool = dtype == DType::Bool;
  lang::PrimOperands operands = lang::PrimOperands::kAnyDType;
  switch (prim) {
#define RELAY_PRIMITIVE(name, text, arity, accepted, result) \
  case Prim::name:                                           \
    operands = lang::PrimOperands::accepted;                 \
    break;
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
  }
  switch (operands) {
    case lang::PrimOperands::kNumeric:
      return !is_bool;
    case lang::PrimOperands::kFloat:
      return is_float;
    case lang::PrimOperands::kInt:
      return !is_bool && !is_float;
    case lang::PrimOperands::kBool:
      return is_bool;
    case lang::PrimOperands::kBits:
      return !is_float;
    case lang::PrimOperands::kAnyDType:
      return true;
  }
  return false;
}

constexpr bool divides(Prim prim) {
  return prim == Prim::Div || prim == Prim::FloorDiv || prim == Prim::Mod || prim == Prim::FloorMod;
}

// --- Integers: they wrap ---

// Unsigned arithmetic without promotion to a signed int.
template <std::integral T>
using Word = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

// Neither traps nor is undefined: x / 0 is 0, and the smallest number divided by -1 wraps.
template <Prim P, std::integral T>
inline T divide(T a, T b) {
  if constexpr (std::is_unsigned_v<T>) {
    if (b == 0) return 0;
    return static_cast<T>(P == Prim::Div || P == Prim::FloorDiv ? a / b : a % b);
  } else {
    if (b == 0) return 0;
    const bool by_minus_one = b == -1;
    const T divisor = by_minus_one ? T{1} : b;
    const T remainder = by_minus_one ? T{0} : static_cast<T>(a % divisor);
    if constexpr (P == Prim::Mod) return remainder;
    const bool is_off = remainder != 0 && (remainder ^ b) < 0;
    if constexpr (P == Prim::FloorMod) return static_cast<T>(is_off ? remainder + b : remainder);
    const T quotient = by_minus_one ? static_cast<T>(Word<T>{0} - static_cast<Word<T>>(a))
                                    : static_cast<T>(a / divisor);
    if constexpr (P == Prim::Div) return quotient;
    return static_cast<T>(static_cast<Word<T>>(quotient) - (is_off ? 1 : 0));
  }
}

template <std::integral T>
inline T power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base == -1) return (exponent & 1) != 0 ? T(-1) : T(1);
      return 0;
    }
  }
  Word<T> result = 1;
  auto factor = static_cast<Word<T>>(base);
  for (auto rest = static_cast<std::make_unsigned_t<T>>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

// --- The primitives ---

template <Prim P, std::integral T>
inline T int_unary(T x) {
  if constexpr (P == Prim::Neg) return static_cast<T>(Word<T>{0} - static_cast<Word<T>>(x));
  if constexpr (P == Prim::Abs) {
    if constexpr (std::is_unsigned_v<T>) return x;
    return static_cast<T>(x < 0 ? Word<T>{0} - static_cast<Word<T>>(x) : static_cast<Word<T>>(x));
  }
  if constexpr (P == Prim::Sign) return static_cast<T>((x > 0) - (x < 0));
  if constexpr (P == Prim::Not) return static_cast<T>(~x);
  return x;  // Floor, Ceil, Trunc, Round
}

template <Prim P, std::integral T>
inline T int_binary(T a, T b) {
  using W = Word<T>;
  constexpr int kMask = static_cast<int>(sizeof(T)) * 8 - 1;
  if constexpr (P == Prim::Add) return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  if constexpr (P == Prim::Sub) return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
  if constexpr (P == Prim::Mul) return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  if constexpr (divides(P)) return divide<P>(a, b);
  if constexpr (P == Prim::Pow) return power(a, b);
  if constexpr (P == Prim::Min) return a < b ? a : b;
  if constexpr (P == Prim::Max) return a > b ? a : b;
  if constexpr (P == Prim::And) return static_cast<T>(a & b);
  if constexpr (P == Prim::Or) return static_cast<T>(a | b);
  if constexpr (P == Prim::Xor) return static_cast<T>(a ^ b);
  if constexpr (P == Prim::Shl) return static_cast<T>(static_cast<W>(a) << (b & kMask));
  if constexpr (P == Prim::Shr) return static_cast<T>(a >> (b & kMask));
  return a;
}

// Whether P in float64 has a function for small arguments that a vector loop can hold
// (loops/math64.h), and a complete one.
template <Prim P>
constexpr bool kHasLargeArguments =
    loops::math64::largest_argument(P) < std::numeric_limits<double>::infinity();

#define RELAY_ARGUMENTS_1 x
#define RELAY_ARGUMENTS_2 x, y

template <Prim P, std::floating_point T>
inline T inline_math_function(T x, [[maybe_unused]] T y = 0) {
  constexpr bool kIsDouble = std::is_same_v<T, double>;
  std::conditional_t<kIsDouble, loops::math::NativeF64, loops::math::NativeF32> target;
#define RELAY_MATH(name, function, arity, ...)                         \
  if constexpr (P == Prim::name) {                                     \
    if constexpr (kIsDouble) {                                         \
      return loops::math64::function(target, RELAY_ARGUMENTS_##arity); \
    } else {                                                           \
      return loops::math::function(target, RELAY_ARGUMENTS_##arity);   \
    }                                                                  \
  }
#include "loops/math.def"
#undef RELAY_MATH
  return x;
}

// In a loop over lanes the function is part of it, as far as a vector loop can hold it; alone it is
// a call of what is compiled for the CPU at hand.
template <Prim P, bool kInLoop, std::floating_point T>
inline T math_function(T x, T y = 0) {
  if constexpr (kInLoop && !(std::is_same_v<T, double> && kHasLargeArguments<P>))
    return inline_math_function<P>(x, y);
#define RELAY_MATH(name, function, arity, ...)                 \
  if constexpr (P == Prim::name && std::is_same_v<T, double>)  \
    return loops::math_f64::function(RELAY_ARGUMENTS_##arity); \
  if constexpr (P == Prim::name && std::is_same_v<T, float>)   \
    return loops::math_f32::function(RELAY_ARGUMENTS_##arity);
#include "loops/math.def"
#undef RELAY_MATH
  return x;
}

#undef RELAY_ARGUMENTS_1
#undef RELAY_ARGUMENTS_2

template <Prim P, bool kInLoop, std::floating_point T>
inline T float_unary(T x) {
  if constexpr (P == Prim::Neg) return -x;
  if constexpr (P == Prim::Abs) return std::fabs(x);
  if constexpr (P == Prim::Sign) {
    const T below = x < 0 ? T(-1) : x;
    return x > 0 ? T(1) : below;
  }
  if constexpr (P == Prim::Floor) return std::floor(x);
  if constexpr (P == Prim::Ceil) return std::ceil(x);
  if constexpr (P == Prim::Trunc) return std::trunc(x);
  if constexpr (P == Prim::Round) return std::nearbyint(x);  // the rounding mode is to nearest even
  if constexpr (P == Prim::Sqrt) return std::sqrt(x);
  if constexpr (is_math(P)) return math_function<P, kInLoop>(x);
  return x;
}

template <Prim P, bool kInLoop, std::floating_point T>
inline T float_binary(T a, T b) {
  if constexpr (P == Prim::Add) return a + b;
  if constexpr (P == Prim::Sub) return a - b;
  if constexpr (P == Prim::Mul) return a * b;
  if constexpr (P == Prim::Div) return a / b;
  if constexpr (P == Prim::FloorDiv) return std::floor(a / b);
  if constexpr (P == Prim::Mod) return std::fmod(a, b);
  if constexpr (P == Prim::FloorMod) {
    // The exact remainder of truncation, moved to the side of the divisor.
    const T remainder = std::fmod(a, b);
    const bool is_off = remainder != 0 && (remainder < 0) != (b < 0);
    return is_off ? remainder + b : remainder;
  }
  // The second operand where neither is less, and a NaN where there is one.
  if constexpr (P == Prim::Min) {
    const T less = a < b ? a : b;
    return a != a ? a : less;
  }
  if constexpr (P == Prim::Max) {
    const T more = a > b ? a : b;
    return a != a ? a : more;
  }
  if constexpr (is_math(P)) return math_function<P, kInLoop>(a, b);
  return a;
}

template <Prim P, class T>
inline bool test(T a, [[maybe_unused]] T b) {
  if constexpr (P == Prim::Eq) return a == b;
  if constexpr (P == Prim::Ne) return a != b;
  if constexpr (P == Prim::Lt) return a < b;
  if constexpr (P == Prim::Le) return a <= b;
  if constexpr (P == Prim::Gt) return a > b;
  if constexpr (P == Prim::Ge) return a >= b;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if constexpr (P == Prim::IsNan) return a != a;
    if constexpr (P == Prim::IsFinite) return std::fabs(a) < kInfinity;
    if constexpr (P == Prim::IsInf) return std::fabs(a) == kInfinity;
  }
  return P == Prim::IsFinite;
}

// One primitive on elements as they are stored. Bools are 0 or 1.
template <Prim P, DType D, bool kInLoop = false>
struct Operation {
  using E = Element<D>;
  using Operand = typename E::Stored;
  static constexpr bool kIsTest = result_of(P) == lang::PrimResult::kTruth;
  using Result = std::conditional_t<kIsTest, std::uint8_t, Operand>;

  static Result apply(Operand a, [[maybe_unused]] Operand b = Operand{}) {
    using C = typename E::Computed;
    if constexpr (kIsTest) {
      return static_cast<std::uint8_t>(test<P, C>(E::load(a), E::load(b)));
    } else if constexpr (D == DType::Bool && P == Prim::Not) {
      return static_cast<std::uint8_t>(a ^ 1);
    } else if constexpr (std::is_integral_v<C>) {
      if constexpr (arity_of(P) == 1) return int_unary<P, C>(a);
      return int_binary<P, C>(a, b);
    } else if constexpr (D != DType::Float32 && D != DType::Float64 &&
                         (P == Prim::Min || P == Prim::Max)) {
      return E::store(float_binary<P, kInLoop, C>(E::load(a), E::load(b)));
    } else {
      if constexpr (arity_of(P) == 1) return E::store(float_unary<P, kInLoop, C>(E::load(a)));
      return E::store(float_binary<P, kInLoop, C>(E::load(a), E::load(b)));
    }
  }
};

// --- Casts ---

// Towards zero; what lies outside saturates, NaN is 0.
template <std::integral To, std::floating_point From>
inline To float_to_int(From x) {
  using Limits = std::numeric_limits<To>;
  // The first power of two above the range: exact in both float types.
  constexpr From kEnd = static_cast<From>(static_cast<double>((Limits::max() >> 1) + 1) * 2.0);
  constexpr From kBegin = static_cast<From>(Limits::min());
  const bool is_low = x <= kBegin;
  const bool is_high = x >= kEnd;
  const bool is_inside = x > kBegin && x < kEnd;
  const To inside = static_cast<To>(is_inside ? x : From(0));
  const To high = is_high ? Limits::max() : inside;
  return is_low ? Limits::min() : high;
}

template <DType From, DType To>
struct Conversion {
  using Operand = typename Element<From>::Stored;
  using Result = typename Element<To>::Stored;

  static Result apply(Operand stored) {
    if constexpr (From == To) {
      return stored;
    } else {
      using A = typename Element<From>::Computed;
      using B = typename Element<To>::Computed;
      const A value = Element<From>::load(stored);
      if constexpr (To == DType::Bool) {
        return static_cast<std::uint8_t>(value != 0);
      } else if constexpr (std::is_floating_point_v<A> && std::is_integral_v<B>) {
        return float_to_int<B>(value);
      } else {
        return Element<To>::store(static_cast<B>(value));
      }
    }
  }
};

}  // namespace relay::interp::ops
