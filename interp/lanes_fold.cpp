#include <concepts>
#include <type_traits>

#include "interp/lanes_loops.h"
#include "loops/loop_ir.h"
#include "loops/reduce_op.h"

namespace relay::interp {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using loops::kReductionLanes;

namespace ops {
namespace {

// --- Sums and their kin ---

// The partial results as one vector, which the compiler keeps in registers; as an array it would not. Integers are
// unsigned, so that they wrap.
template <class T>
struct AsWord {
  using type = std::make_unsigned_t<T>;
};
template <std::floating_point T>
struct AsWord<T> {
  using type = T;
};
template <class T>
struct Block {
  typedef T Vector __attribute__((vector_size(sizeof(T) * kReductionLanes)));
  using W = typename AsWord<T>::type;
  typedef W Words __attribute__((vector_size(sizeof(T) * kReductionLanes)));

  RELAY_LANES_BODY void load(Vector& vector, const T* from) { __builtin_memcpy(&vector, from, sizeof(Vector)); }
  RELAY_LANES_BODY void store(T* to, const Vector& vector) { __builtin_memcpy(to, &vector, sizeof(Vector)); }

  // a = op(a, b), as Operation<P, ..>::apply has it.
  template <Prim P>
  RELAY_LANES_BODY void fold(Vector& a, const Vector& b) {
    if constexpr (P == Prim::Add) a = (Vector)((Words)a + (Words)b);
    if constexpr (P == Prim::Mul) a = (Vector)((Words)a * (Words)b);
    if constexpr (P == Prim::And) a = a & b;
    if constexpr (P == Prim::Or) a = a | b;
    if constexpr (P == Prim::Min || P == Prim::Max) {
      Vector chosen;
      if constexpr (P == Prim::Min) chosen = a < b ? a : b;
      if constexpr (P == Prim::Max) chosen = a > b ? a : b;
      if constexpr (std::is_floating_point_v<T>) chosen = a != a ? a : chosen;
      a = chosen;
    }
  }
};

// Calls edge(partial number, i) where a partial result meets single elements, and middle(i) for sixteen from i on.
template <class Edge, class Middle>
RELAY_LANES_BODY void for_partials(std::int64_t t, std::int64_t n, Edge edge, Middle middle) {
  std::int64_t i = 0;
  for (; i < n && (t + i) % kReductionLanes != 0; ++i) edge((t + i) % kReductionLanes, i);
  i = middle(i);
  for (int j = 0; i < n; ++i, ++j) edge(j, i);
}

constexpr bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

template <Prim P, DType D>
struct FoldLoop {
  using Op = Operation<P, D>;
  using T = typename Op::Operand;
  RELAY_LANES_BODY void run(void* partials_, const void* values_, std::int64_t t, std::int64_t n) {
    auto* partials = static_cast<T*>(partials_);
    const auto* values = static_cast<const T*>(values_);
    const auto one = [&](std::int64_t j, std::int64_t i) { partials[j] = Op::apply(partials[j], values[i]); };
    for_partials(t, n, one, [&](std::int64_t i) {
      if constexpr (is_half(D)) {
        for (; i + kReductionLanes <= n; i += kReductionLanes) {
          for (int j = 0; j < kReductionLanes; ++j) one(j, i + j);
        }
      } else {
        using B = Block<T>;
        typename B::Vector sum;
        typename B::Vector element;
        B::load(sum, partials);
        for (; i + kReductionLanes <= n; i += kReductionLanes) {
          B::load(element, values + i);
          B::template fold<P>(sum, element);
        }
        B::store(partials, sum);
      }
      return i;
    });
  }
};

template <DType D>
struct FoldProductLoop {
  using T = typename Element<D>::Stored;
  RELAY_LANES_BODY void run(void* partials_, const void* a_, const void* b_, std::int64_t t, std::int64_t n) {
    auto* partials = static_cast<T*>(partials_);
    const auto* a = static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    const auto one = [&](std::int64_t j, std::int64_t i) {
      partials[j] = Operation<Prim::Add, D>::apply(partials[j], Operation<Prim::Mul, D>::apply(a[i], b[i]));
    };
    for_partials(t, n, one, [&](std::int64_t i) {
      using B = Block<T>;
      typename B::Vector sum;
      typename B::Vector product;
      typename B::Vector factor;
      B::load(sum, partials);
      for (; i + kReductionLanes <= n; i += kReductionLanes) {
        B::load(product, a + i);
        B::load(factor, b + i);
        B::template fold<Prim::Mul>(product, factor);
        B::template fold<Prim::Add>(sum, product);
      }
      B::store(partials, sum);
      return i;
    });
  }
};

// The bodies take different operands, hence a wrapper for each.
#define RELAY_FOLD_PRODUCT_LEVEL(Name, attributes)                                                                \
  template <class Body>                                                                                          \
  struct Name {                                                                                                  \
    attributes static void run(void* partials, const void* a, const void* b, std::int64_t t, std::int64_t n) { \
      Body::run(partials, a, b, t, n);                                                                           \
    }                                                                                                            \
  };
RELAY_FOLD_PRODUCT_LEVEL(FoldProductBase, RELAY_TARGET_BASE)
#if RELAY_LANES_X86
RELAY_FOLD_PRODUCT_LEVEL(FoldProductAvx2, RELAY_TARGET_AVX2)
RELAY_FOLD_PRODUCT_LEVEL(FoldProductAvx512, RELAY_TARGET_AVX512)
#else
template <class Body>
using FoldProductAvx2 = FoldProductBase<Body>;
template <class Body>
using FoldProductAvx512 = FoldProductBase<Body>;
#endif

template <DType D>
FoldProductFunction fold_product_of() {
  switch (cpu_level()) {
    case Level::Avx512: return &FoldProductAvx512<FoldProductLoop<D>>::run;
    case Level::Avx2: return &FoldProductAvx2<FoldProductLoop<D>>::run;
    case Level::Base: return &FoldProductBase<FoldProductLoop<D>>::run;
  }
  return nullptr;
}

#define RELAY_FOLD_LEVEL(Name, attributes)                                                          \
  template <class Body>                                                                            \
  struct Name {                                                                                    \
    attributes static void run(void* partials, const void* values, std::int64_t t, std::int64_t n) { \
      Body::run(partials, values, t, n);                                                           \
    }                                                                                              \
  };
RELAY_FOLD_LEVEL(FoldBase, RELAY_TARGET_BASE)
#if RELAY_LANES_X86
RELAY_FOLD_LEVEL(FoldAvx2, RELAY_TARGET_AVX2)
RELAY_FOLD_LEVEL(FoldAvx512, RELAY_TARGET_AVX512)
#else
template <class Body>
using FoldAvx2 = FoldBase<Body>;
template <class Body>
using FoldAvx512 = FoldBase<Body>;
#endif

template <Prim P, DType D>
FoldFunction fold_of() {
  if constexpr (!takes(P, D)) {
    return nullptr;
  } else {
    switch (cpu_level()) {
      case Level::Avx512: return &FoldAvx512<FoldLoop<P, D>>::run;
      case Level::Avx2: return &FoldAvx2<FoldLoop<P, D>>::run;
      case Level::Base: return &FoldBase<FoldLoop<P, D>>::run;
    }
    return nullptr;
  }
}

template <Prim P, DType D>
void combine(void* out_, const std::int64_t* offsets, const void* values_, std::int64_t stride, std::int64_t n) {
  using Op = Operation<P, D>;
  using T = typename Op::Operand;
  auto* out = static_cast<T*>(out_);
  const auto* values = static_cast<const T*>(values_);
  for (std::int64_t i = 0; i < n; ++i) {
    T& place = out[offsets[i]];
    place = Op::apply(place, values[i * stride]);
  }
}

template <Prim P, DType D>
CombineFunction combine_of() {
  if constexpr (takes(P, D)) return &combine<P, D>;
  return nullptr;
}

// --- Arguments of extremes ---

template <bool Max, DType D>
struct Extreme {
  using E = Element<D>;
  using T = typename E::Stored;

  // Does (b, b_at) beat (a, a_at)? Of equal values the earlier wins; NaN beats numbers.
  static bool wins(T b_, std::int64_t b_at, T a_, std::int64_t a_at) {
    const auto a = E::load(a_);
    const auto b = E::load(b_);
    const bool nan_a = a != a;
    const bool nan_b = b != b;
    const bool beats = (Max ? b > a : b < a) || (nan_b && !nan_a);
    const bool ties = b == a || (nan_a && nan_b);
    return beats || (ties && b_at < a_at);
  }

  static void each_lane(void* best_, std::int64_t* best_at, const void* values_, std::int64_t t, std::int64_t n) {
    auto* best = static_cast<T*>(best_);
    const auto* values = static_cast<const T*>(values_);
    for (std::int64_t i = 0; i < n; ++i) {
      const bool better = wins(values[i], t, best[i], best_at[i]);
      best[i] = better ? values[i] : best[i];
      best_at[i] = better ? t : best_at[i];
    }
  }
  static void across(void* best_, std::int64_t* best_at, const void* values_, std::int64_t t, std::int64_t n) {
    auto* best = static_cast<T*>(best_);
    const auto* values = static_cast<const T*>(values_);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto j = (t + i) % kReductionLanes;
      if (!wins(values[i], t + i, best[j], best_at[j])) continue;
      best[j] = values[i];
      best_at[j] = t + i;
    }
  }
  static void combine(void* best_, std::int64_t* best_at, const void* other_, const std::int64_t* other_at, std::int64_t n) {
    auto* best = static_cast<T*>(best_);
    const auto* other = static_cast<const T*>(other_);
    for (std::int64_t i = 0; i < n; ++i) {
      const bool better = wins(other[i], other_at[i], best[i], best_at[i]);
      best[i] = better ? other[i] : best[i];
      best_at[i] = better ? other_at[i] : best_at[i];
    }
  }
};

template <bool Max, DType D>
ArgFunctions arg_of() {
  using F = Extreme<Max, D>;
  return {&F::each_lane, &F::across, &F::combine};
}

// Calls f.operator()<DType>().
template <class F>
auto with_dtype(DType dtype, F f) {
  switch (dtype) {
    case DType::Bool: return f.template operator()<DType::Bool>();
    case DType::Int8: return f.template operator()<DType::Int8>();
    case DType::Int16: return f.template operator()<DType::Int16>();
    case DType::Int32: return f.template operator()<DType::Int32>();
    case DType::Int64: return f.template operator()<DType::Int64>();
    case DType::UInt8: return f.template operator()<DType::UInt8>();
    case DType::UInt16: return f.template operator()<DType::UInt16>();
    case DType::UInt32: return f.template operator()<DType::UInt32>();
    case DType::UInt64: return f.template operator()<DType::UInt64>();
    case DType::Float16: return f.template operator()<DType::Float16>();
    case DType::BFloat16: return f.template operator()<DType::BFloat16>();
    case DType::Float32: return f.template operator()<DType::Float32>();
    case DType::Float64: return f.template operator()<DType::Float64>();
  }
  return decltype(f.template operator()<DType::Bool>()){};
}

}  // namespace
}  // namespace ops

FoldFunction lane_fold(ReduceOp op, DType dtype) {
  return ops::with_dtype(dtype, [op]<DType D>() -> FoldFunction {
    switch (loops::prim_of(op)) {
      case Prim::Add: return ops::fold_of<Prim::Add, D>();
      case Prim::Mul: return ops::fold_of<Prim::Mul, D>();
      case Prim::Max: return ops::fold_of<Prim::Max, D>();
      case Prim::Min: return ops::fold_of<Prim::Min, D>();
      case Prim::And: return ops::fold_of<Prim::And, D>();
      case Prim::Or: return ops::fold_of<Prim::Or, D>();
      default: return nullptr;
    }
  });
}

FoldProductFunction lane_fold_product(DType dtype) {
  switch (dtype) {
    case DType::Float32: return ops::fold_product_of<DType::Float32>();
    case DType::Float64: return ops::fold_product_of<DType::Float64>();
    case DType::Int32: return ops::fold_product_of<DType::Int32>();
    case DType::Int64: return ops::fold_product_of<DType::Int64>();
    default: return nullptr;
  }
}

CombineFunction lane_combine(ReduceOp op, DType dtype) {
  return ops::with_dtype(dtype, [op]<DType D>() -> CombineFunction {
    switch (loops::prim_of(op)) {
      case Prim::Add: return ops::combine_of<Prim::Add, D>();
      case Prim::Mul: return ops::combine_of<Prim::Mul, D>();
      case Prim::Max: return ops::combine_of<Prim::Max, D>();
      case Prim::Min: return ops::combine_of<Prim::Min, D>();
      case Prim::And: return ops::combine_of<Prim::And, D>();
      case Prim::Or: return ops::combine_of<Prim::Or, D>();
      default: return nullptr;
    }
  });
}

ArgFunctions lane_arg(ReduceOp op, DType dtype) {
  return ops::with_dtype(dtype, [op]<DType D>() {
    return op == ReduceOp::ArgMax ? ops::arg_of<true, D>() : ops::arg_of<false, D>();
  });
}

}  // namespace relay::interp
