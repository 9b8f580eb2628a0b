#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace relay::loops::math {

// The target of loops/math.h that computes, one lane at a time. A loop over a function of it
// becomes vector code with -O3 -fno-math-errno -fno-trapping-math, none of which changes a bit, if
// the function with the loop is [[gnu::flatten]]: one call left in it and it stays scalar. What
// would change bits is contraction to FMA: compile with -ffp-contract=off. For a CPU without FMA,
// fma is a call.
struct NativeF32 {
  using F = float;
  using I = std::int32_t;
  using D = double;
  using B = bool;

  static F f32(float v) { return v; }
  static I i32(std::int32_t v) { return v; }
  static D f64(double v) { return v; }

  static F add(F a, F b) { return a + b; }
  static F sub(F a, F b) { return a - b; }
  static F mul(F a, F b) { return a * b; }
  static F div(F a, F b) { return a / b; }
  static F abs(F a) { return std::fabs(a); }
  static F sqrt(F a) { return std::sqrt(a); }
  static F fma(F a, F b, F c) { return std::fma(a, b, c); }
  static B lt(F a, F b) { return a < b; }
  static B eq(F a, F b) { return a == b; }
  static F select(B c, F a, F b) { return c ? a : b; }

  static I bits(F a) { return std::bit_cast<I>(a); }
  static F from_bits(I a) { return std::bit_cast<F>(a); }
  static I iadd(I a, I b) { return wrap(word(a) + word(b)); }
  static I isub(I a, I b) { return wrap(word(a) - word(b)); }
  static I iand(I a, I b) { return a & b; }
  static I ior(I a, I b) { return a | b; }
  static I ixor(I a, I b) { return a ^ b; }
  static I shl(I a, int count) { return wrap(word(a) << count); }
  static I ashr(I a, int count) { return a >> count; }
  static B ieq(I a, I b) { return a == b; }
  static I iselect(B c, I a, I b) { return c ? a : b; }
  static F to_float(I a) { return static_cast<F>(a); }

  static D to_f64(F a) { return a; }
  static F to_f32(D a) { return static_cast<F>(a); }
  static D dadd(D a, D b) { return a + b; }
  static D dsub(D a, D b) { return a - b; }
  static D dmul(D a, D b) { return a * b; }
  static D ddiv(D a, D b) { return a / b; }
  static D dsqrt(D a) { return std::sqrt(a); }
  static D dfma(D a, D b, D c) { return std::fma(a, b, c); }
  static B dlt(D a, D b) { return a < b; }
  static D dselect(B c, D a, D b) { return c ? a : b; }
  static D dshl(D a, int count) {
    return std::bit_cast<D>(std::bit_cast<std::uint64_t>(a) << count);
  }
  static D pow2_f64(I k) {
    return std::bit_cast<D>(static_cast<std::uint64_t>(std::int64_t{k} + 1023) << 52);
  }

 private:
  static std::uint32_t word(I a) { return static_cast<std::uint32_t>(a); }
  static I wrap(std::uint32_t a) { return static_cast<I>(a); }
};

// The same for loops/math64.h.
struct NativeF64 {
  using F = double;
  using I = std::int64_t;
  using B = bool;

  static F f64(double v) { return v; }
  static I i64(std::int64_t v) { return v; }

  static F add(F a, F b) { return a + b; }
  static F sub(F a, F b) { return a - b; }
  static F mul(F a, F b) { return a * b; }
  static F div(F a, F b) { return a / b; }
  static F abs(F a) { return std::fabs(a); }
  static F sqrt(F a) { return std::sqrt(a); }
  static F fma(F a, F b, F c) { return std::fma(a, b, c); }
  static B lt(F a, F b) { return a < b; }
  static B eq(F a, F b) { return a == b; }
  static F select(B c, F a, F b) { return c ? a : b; }

  static I bits(F a) { return std::bit_cast<I>(a); }
  static F from_bits(I a) { return std::bit_cast<F>(a); }
  static I iadd(I a, I b) { return wrap(word(a) + word(b)); }
  static I isub(I a, I b) { return wrap(word(a) - word(b)); }
  static I iand(I a, I b) { return a & b; }
  static I ior(I a, I b) { return a | b; }
  static I ixor(I a, I b) { return a ^ b; }
  static I shl(I a, int count) { return wrap(word(a) << count); }
  static I lshr(I a, int count) { return wrap(word(a) >> count); }
  static B ieq(I a, I b) { return a == b; }
  static B is_negative(I a) { return a < 0; }

 private:
  static std::uint64_t word(I a) { return static_cast<std::uint64_t>(a); }
  static I wrap(std::uint64_t a) { return static_cast<I>(a); }
};

}  // namespace relay::loops::math
