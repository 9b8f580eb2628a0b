#include <algorithm>
#include <cmath>

#include "interp/lanes_loops.h"
#include "loops/loop_ir.h"
#include "loops/reduction_tree.h"

// Products that are added with one rounding. Where the CPU has no such instruction, the C library
// computes it.
namespace relay::interp {

using lang::DType;
using loops::kReductionBlock;
using loops::kReductionLanes;

namespace ops {
namespace {

template <class T>
struct Dot {
  RELAY_LANES_BODY void each_lane(void* partials_, const void* a_, std::int64_t stride_a,
                                  const void* b_, std::int64_t stride_b, std::int64_t n) {
    auto* partials = static_cast<T*>(partials_);
    const auto* a = static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    if (stride_a == 1 && stride_b == 1) {
      RELAY_LANES_LOOP
      for (std::int64_t i = 0; i < n; ++i) partials[i] = std::fma(a[i], b[i], partials[i]);
    } else if (stride_a == 1) {
      by_one(partials, a, *b, n);
    } else if (stride_b == 1) {
      by_one(partials, b, *a, n);
    } else {
      for (std::int64_t i = 0; i < n; ++i) partials[i] = std::fma(*a, *b, partials[i]);
    }
  }

  RELAY_LANES_BODY void across(void* partials_, void* waiting, const void* a_,
                               std::int64_t stride_a, const void* b_, std::int64_t stride_b,
                               std::int64_t t, std::int64_t n) {
    auto* partials = static_cast<T*>(partials_);
    const auto* a = static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    while (n > 0) {
      // Up to the end of a round of the partial results.
      const std::int64_t first = t % kReductionLanes;
      const std::int64_t count = std::min(n, kReductionLanes - first);
      each_lane(partials + first, a, stride_a, b, stride_b, count);
      a += count * stride_a;
      b += count * stride_b;
      t += count;
      n -= count;
      if (t % kReductionBlock == 0)
        close_block(partials, static_cast<T*>(waiting), t / kReductionBlock - 1);
    }
  }

 private:
  RELAY_LANES_BODY void by_one(T* partials, const T* values, T factor, std::int64_t n) {
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) partials[i] = std::fma(values[i], factor, partials[i]);
  }

  RELAY_LANES_BODY void close_block(T* partials, T* waiting, std::int64_t block) {
    const auto sum = [](T a, T b) { return a + b; };
    loops::wait(waiting, block, loops::combined(partials, sum), sum);
    std::fill_n(partials, kReductionLanes, T(0));
  }
};

#define RELAY_DOT_LEVEL(Name, attributes)                                                      \
  template <class T>                                                                           \
  struct Name {                                                                                \
    attributes static void across(void* partials, void* waiting, const void* a,                \
                                  std::int64_t stride_a, const void* b, std::int64_t stride_b, \
                                  std::int64_t t, std::int64_t n) {                            \
      Dot<T>::across(partials, waiting, a, stride_a, b, stride_b, t, n);                       \
    }                                                                                          \
    attributes static void each_lane(void* partials, const void* a, std::int64_t stride_a,     \
                                     const void* b, std::int64_t stride_b, std::int64_t n) {   \
      Dot<T>::each_lane(partials, a, stride_a, b, stride_b, n);                                \
    }                                                                                          \
  };

RELAY_DOT_LEVEL(BaseDot, RELAY_TARGET_BASE)
#if RELAY_LANES_X86
RELAY_DOT_LEVEL(Avx2Dot, RELAY_TARGET_AVX2)
RELAY_DOT_LEVEL(Avx512Dot, RELAY_TARGET_AVX512)
#else
template <class T>
using Avx2Dot = BaseDot<T>;
template <class T>
using Avx512Dot = BaseDot<T>;
#endif
#undef RELAY_DOT_LEVEL

template <class T>
DotFunctions dot_of() {
  switch (cpu_level()) {
    case Level::Avx512:
      return {&Avx512Dot<T>::across, &Avx512Dot<T>::each_lane};
    case Level::Avx2:
      return {&Avx2Dot<T>::across, &Avx2Dot<T>::each_lane};
    case Level::Base:
      return {&BaseDot<T>::across, &BaseDot<T>::each_lane};
  }
  return {};
}

}  // namespace
}  // namespace ops

DotFunctions lane_dot(DType dtype) {
  if (dtype == DType::Float32) return ops::dot_of<float>();
  return dtype == DType::Float64 ? ops::dot_of<double>() : DotFunctions{};
}

}  // namespace relay::interp
