#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "interp/lanes_ops.h"
#include "interp/scalar_ops.h"

// The loops behind interp/lanes_ops.h as templates, and how they are compiled for several
// generations of CPU: each loop's body is an always-inlined function, and RELAY_LANES_LEVELS wraps
// it into one function per generation. Target attributes and not separate files with -march: a
// function that is shared between files, compiled for a newer CPU, must not be picked by the linker
// for an older one.
#if defined(__x86_64__) && defined(__GNUC__)
#define RELAY_LANES_X86 1
#endif

#if defined(__clang__)
#define RELAY_LANES_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define RELAY_LANES_LOOP _Pragma("GCC ivdep")
#endif

#define RELAY_LANES_BODY [[gnu::always_inline]] static inline

namespace relay::interp::ops {

// The generations, and which of them this machine is.
enum class Level : std::uint8_t { Base, Avx2, Avx512 };
inline constexpr int kLevelCount = 3;
Level cpu_level();

inline constexpr std::size_t kPrimCount = 0
#define RELAY_PRIMITIVE(name, text, arity, operands, result) +1
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
    ;

// What one dtype's file provides: by level, primitive, and uniform operands (none, a, b).
using PrimitiveLoops = std::array<std::array<LaneFunction, 3>, kPrimCount>;
struct DTypeLoops {
  std::array<PrimitiveLoops, kLevelCount> primitives{};
  std::array<LaneFunction, kLevelCount> multiply_add[3] = {};
};

// Few programs compute in these: the newest generation runs what the one before it does, as each
// takes as long again to compile.
template <DType D>
inline constexpr bool kIsNarrow = sizeof(typename Element<D>::Stored) < 4;

// --- Bodies ---

// A function in float64 that is only vector code for small arguments: false where one is large.
template <Prim P>
RELAY_LANES_BODY bool small_arguments(double* out, const double* a, std::int64_t n) {
  bool small = true;
  for (std::int64_t i = 0; i < n; ++i) {
    small &= !(std::fabs(a[i]) > loops::math64::largest_argument(P));
  }
  if (!small) return false;
  RELAY_LANES_LOOP
  for (std::int64_t i = 0; i < n; ++i) out[i] = inline_math_function<P>(a[i]);
  return true;
}

// Division of small natural numbers by one small divisor, exactly, in float64.
template <Prim P, class T>
RELAY_LANES_BODY bool divide_small(T* out, const T* a, T b, std::int64_t n) {
  if constexpr (sizeof(T) < 4) {
    return false;
  } else {
    using U = std::make_unsigned_t<T>;
    constexpr U kEnd = U{1} << 31;
    if (static_cast<U>(b) >= kEnd) return false;
    U all = 0;
    for (std::int64_t i = 0; i < n; ++i) all |= static_cast<U>(a[i]);
    if (all >= kEnd) return false;
    const auto divisor = static_cast<double>(b);
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      const auto number = static_cast<std::int32_t>(a[i]);
      const auto quotient = static_cast<std::int32_t>(static_cast<double>(number) / divisor);
      const bool is_quotient = P == Prim::Div || P == Prim::FloorDiv;
      out[i] =
          static_cast<T>(is_quotient ? quotient : number - quotient * static_cast<std::int32_t>(b));
    }
    return true;
  }
}

template <Prim P, DType D>
struct Loop {
  using Op = Operation<P, D, true>;
  using T = typename Op::Operand;
  using R = typename Op::Result;
  static constexpr bool kHasNarrow = kIsNarrow<D>;
  static constexpr bool kDivides =
      divides(P) && std::is_integral_v<T> && takes(P, D) && D < DType::Float16;

  RELAY_LANES_BODY bool vv(void* out_, const void* a_, const void* b_, std::int64_t n) {
    auto* out = static_cast<R*>(out_);
    const auto* a = static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    bool good = true;
    if constexpr (kDivides) {
      for (std::int64_t i = 0; i < n; ++i) good &= b[i] != 0;
    }
    if constexpr (std::is_same_v<T, double> && kHasLargeArguments<P>) {
      if (small_arguments<P>(out, a, n)) return true;
    }
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (arity_of(P) == 1) {
        out[i] = Op::apply(a[i]);
      } else {
        out[i] = Op::apply(a[i], b[i]);
      }
    }
    return good;
  }
  RELAY_LANES_BODY bool sv(void* out_, const void* a_, const void* b_, std::int64_t n) {
    auto* out = static_cast<R*>(out_);
    const T a = *static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    bool good = true;
    if constexpr (kDivides) {
      for (std::int64_t i = 0; i < n; ++i) good &= b[i] != 0;
    }
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) out[i] = Op::apply(a, b[i]);
    return good;
  }
  RELAY_LANES_BODY bool vs(void* out_, const void* a_, const void* b_, std::int64_t n) {
    auto* out = static_cast<R*>(out_);
    const auto* a = static_cast<const T*>(a_);
    const T b = *static_cast<const T*>(b_);
    if constexpr (kDivides) {
      if (b == 0) return n <= 0;
      if (divide_small<P>(out, a, b, n)) return true;
    }
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) out[i] = Op::apply(a[i], b);
    return true;
  }
};

template <DType D>
struct MultiplyAdd {
  using E = Element<D>;
  using T = typename E::Stored;
  using Times = Operation<Prim::Mul, D>;
  using Plus = Operation<Prim::Add, D>;
  RELAY_LANES_BODY bool vv(void* out_, const void* a_, const void* b_, std::int64_t n) {
    auto* out = static_cast<T*>(out_);
    const auto* a = static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) out[i] = Plus::apply(out[i], Times::apply(a[i], b[i]));
    return true;
  }
  RELAY_LANES_BODY bool sv(void* out_, const void* a_, const void* b_, std::int64_t n) {
    auto* out = static_cast<T*>(out_);
    const T a = *static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) out[i] = Plus::apply(out[i], Times::apply(a, b[i]));
    return true;
  }
  RELAY_LANES_BODY bool vs(void* out, const void* a, const void* b, std::int64_t n) {
    return sv(out, b, a, n);
  }
};

// --- Levels ---

// `Name`<Body>::vv, sv and vs are Body's, compiled with the attributes given.
#define RELAY_LANES_LEVEL(Name, attributes)                                         \
  template <class Body>                                                             \
  struct Name {                                                                     \
    attributes static bool vv(void* out, const void* a, const void* b, const void*, \
                              std::int64_t n) {                                     \
      return Body::vv(out, a, b, n);                                                \
    }                                                                               \
    attributes static bool sv(void* out, const void* a, const void* b, const void*, \
                              std::int64_t n) {                                     \
      return Body::sv(out, a, b, n);                                                \
    }                                                                               \
    attributes static bool vs(void* out, const void* a, const void* b, const void*, \
                              std::int64_t n) {                                     \
      return Body::vs(out, a, b, n);                                                \
    }                                                                               \
  };

#define RELAY_TARGET_BASE [[gnu::flatten]]
#if RELAY_LANES_X86
#define RELAY_TARGET_AVX2 [[gnu::flatten, gnu::target("avx2,fma,f16c")]]
#if defined(__clang__)
#define RELAY_TARGET_AVX512 [[gnu::flatten, gnu::target("fma,avx512f,avx512bw,avx512dq,avx512vl")]]
#else
#define RELAY_TARGET_AVX512 \
  [[gnu::flatten, gnu::target("fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]]
#endif
#endif

RELAY_LANES_LEVEL(BaseLevel, RELAY_TARGET_BASE)
#if RELAY_LANES_X86
RELAY_LANES_LEVEL(Avx2Level, RELAY_TARGET_AVX2)
RELAY_LANES_LEVEL(Avx512Level, RELAY_TARGET_AVX512)
#else
template <class Body>
using Avx2Level = BaseLevel<Body>;
template <class Body>
using Avx512Level = BaseLevel<Body>;
#endif
template <class Body>
using NewestLevel = std::conditional_t<Body::kHasNarrow, Avx2Level<Body>, Avx512Level<Body>>;

template <template <class> class At, Prim P, DType D>
constexpr std::array<LaneFunction, 3> loops_of() {
  if constexpr (P == Prim::Select || P == Prim::Cast || !takes(P, D)) {
    return {};
  } else if constexpr (arity_of(P) == 1) {
    return {&At<Loop<P, D>>::vv, &At<Loop<P, D>>::vv, nullptr};
  } else {
    return {&At<Loop<P, D>>::vv, &At<Loop<P, D>>::sv, &At<Loop<P, D>>::vs};
  }
}

template <template <class> class At, DType D, std::size_t... P>
constexpr PrimitiveLoops primitive_loops(std::index_sequence<P...>) {
  return {loops_of<At, static_cast<Prim>(P), D>()...};
}

template <DType D>
constexpr DTypeLoops dtype_loops() {
  DTypeLoops loops;
  constexpr auto kAll = std::make_index_sequence<kPrimCount>();
  loops.primitives = {primitive_loops<BaseLevel, D>(kAll), primitive_loops<Avx2Level, D>(kAll),
                      primitive_loops<NewestLevel, D>(kAll)};
  if constexpr (D == DType::Float32 || D == DType::Float64 || D == DType::Int32 ||
                D == DType::Int64) {
    using M = MultiplyAdd<D>;
    loops.multiply_add[0] = {&BaseLevel<M>::vv, &Avx2Level<M>::vv, &Avx512Level<M>::vv};
    loops.multiply_add[1] = {&BaseLevel<M>::sv, &Avx2Level<M>::sv, &Avx512Level<M>::sv};
    loops.multiply_add[2] = {&BaseLevel<M>::vs, &Avx2Level<M>::vs, &Avx512Level<M>::vs};
  }
  return loops;
}

// Defined by lanes_<family>.cpp for its dtypes.
const DTypeLoops& loops_float32();
const DTypeLoops& loops_float64();
const DTypeLoops& loops_half(DType dtype);
const DTypeLoops& loops_small_int(DType dtype);
const DTypeLoops& loops_int(DType dtype);

}  // namespace relay::interp::ops
