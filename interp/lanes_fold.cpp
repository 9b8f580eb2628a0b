#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "interp/lanes_loops.h"
#include "loops/loop_ir.h"
#include "loops/reduce_op.h"
#include "loops/reduction_tree.h"

namespace relay::interp {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using loops::kReductionBlock;
using loops::kReductionLanes;

namespace ops {
namespace {

// --- Arguments of extremes ---

template <bool Max, DType D>
struct Extreme {
  using E = Element<D>;
  using T = typename E::Stored;

  // Does (b, b_at) beat (a, a_at)? Of equal values the earlier wins; NaN beats numbers. Without
  // branches, so that loops over it become vector code.
  RELAY_LANES_BODY bool wins(T b_, std::int64_t b_at, T a_, std::int64_t a_at) {
    const auto a = E::load(a_);
    const auto b = E::load(b_);
    const bool nan_a = a != a;
    const bool nan_b = b != b;
    const bool beats = (Max ? b > a : b < a) | (nan_b & !nan_a);
    const bool ties = (b == a) | (nan_a & nan_b);
    return beats | (ties & (b_at < a_at));
  }
  // Element number `t` against the best of its partial result.
  RELAY_LANES_BODY void element(T* best, std::int64_t* best_at, T value, std::int64_t t) {
    const auto j = t % kReductionLanes;
    if (!wins(value, t, best[j], best_at[j])) return;
    best[j] = value;
    best_at[j] = t;
  }

  RELAY_LANES_BODY void lane_by_lane(void* best_, std::int64_t* best_at, const void* values_,
                                     std::int64_t t, std::int64_t n) {
    auto* best = static_cast<T*>(best_);
    const auto* values = static_cast<const T*>(values_);
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      const bool better = wins(values[i], t, best[i], best_at[i]);
      best[i] = better ? values[i] : best[i];
      best_at[i] = better ? t : best_at[i];
    }
  }
  static void across(void* best, std::int64_t* best_at, const void* values_, std::int64_t t,
                     std::int64_t n) {
    const auto* values = static_cast<const T*>(values_);
    for (std::int64_t i = 0; i < n; ++i) element(static_cast<T*>(best), best_at, values[i], t + i);
  }
  RELAY_LANES_BODY void combine(void* best_, std::int64_t* best_at, const void* other_,
                                const std::int64_t* other_at, std::int64_t n) {
    auto* best = static_cast<T*>(best_);
    const auto* other = static_cast<const T*>(other_);
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      const bool better = wins(other[i], other_at[i], best[i], best_at[i]);
      best[i] = better ? other[i] : best[i];
      best_at[i] = better ? other_at[i] : best_at[i];
    }
  }
};

// --- Sums and their kin ---

// What vectors of T compute in: integers are unsigned, so that they wrap.
template <class T>
struct AsWord {
  using type = std::make_unsigned_t<T>;
};
template <std::floating_point T>
struct AsWord<T> {
  using type = T;
};

template <std::size_t Size>
using SignedWord = std::conditional_t<
    Size == 1, std::int8_t,
    std::conditional_t<Size == 2, std::int16_t,
                       std::conditional_t<Size == 4, std::int32_t, std::int64_t>>>;

template <Prim P>
constexpr ReduceOp fold_op() {
  return P == Prim::Add ? ReduceOp::Sum : P == Prim::Mul ? ReduceOp::Prod : ReduceOp::Max;
}
template <Prim P, DType D>
constexpr bool has_blocks() {
  return loops::has_blocks(fold_op<P>(), D);
}

// Puts the result of block number `block` among those that wait (loops/reduction_tree.h).
template <Prim P, DType D>
void wait(void* waiting_, std::int64_t block, typename Operation<P, D>::Operand sum) {
  using Op = Operation<P, D>;
  loops::wait(static_cast<typename Op::Operand*>(waiting_), block, sum, &Op::apply);
}

#define RELAY_BLOCKS_NAME BaseBlocks
#define RELAY_BLOCKS_TARGET RELAY_TARGET_BASE
#include "interp/lanes_fold_blocks.inc"
#undef RELAY_BLOCKS_NAME
#undef RELAY_BLOCKS_TARGET
#if RELAY_LANES_X86
#define RELAY_BLOCKS_NAME Avx2Blocks
#define RELAY_BLOCKS_TARGET RELAY_TARGET_AVX2
#include "interp/lanes_fold_blocks.inc"
#undef RELAY_BLOCKS_NAME
#undef RELAY_BLOCKS_TARGET
#define RELAY_BLOCKS_NAME Avx512Blocks
#define RELAY_BLOCKS_TARGET RELAY_TARGET_AVX512
#include "interp/lanes_fold_blocks.inc"
#undef RELAY_BLOCKS_NAME
#undef RELAY_BLOCKS_TARGET
#else
template <Prim P, DType D>
using Avx2Blocks = BaseBlocks<P, D>;
template <Prim P, DType D>
using Avx512Blocks = BaseBlocks<P, D>;
#endif

template <Prim P, DType D>
using NewestBlocks = std::conditional_t<kIsNarrow<D>, Avx2Blocks<P, D>, Avx512Blocks<P, D>>;

// Halves are computed in float32, one by one.
template <Prim P, DType D>
void fold_halves(void* partials_, void* waiting, const void* values_, std::int64_t t,
                 std::int64_t n) {
  using Op = Operation<P, D>;
  using T = typename Op::Operand;
  auto* partials = static_cast<T*>(partials_);
  const auto* values = static_cast<const T*>(values_);
  for (std::int64_t i = 0; i < n; ++i) {
    T& partial = partials[(t + i) % kReductionLanes];
    partial = Op::apply(partial, values[i]);
    if (!has_blocks<P, D>() || (t + i + 1) % kReductionBlock != 0) continue;
    wait<P, D>(waiting, (t + i) / kReductionBlock, loops::combined(partials, &Op::apply));
    const std::uint64_t identity = loops::identity_bits(fold_op<P>(), D);
    for (int j = 0; j < kReductionLanes; ++j) std::memcpy(partials + j, &identity, sizeof(T));
  }
}

template <Prim P, DType D>
FoldFunction fold_of() {
  if constexpr (!takes(P, D)) {
    return nullptr;
  } else if constexpr (D == DType::Float16 || D == DType::BFloat16) {
    return &fold_halves<P, D>;
  } else {
    switch (cpu_level()) {
      case Level::Avx512:
        return &NewestBlocks<P, D>::run;
      case Level::Avx2:
        return &Avx2Blocks<P, D>::run;
      case Level::Base:
        return &BaseBlocks<P, D>::run;
    }
    return nullptr;
  }
}

template <DType D>
FoldProductFunction fold_product_of() {
  switch (cpu_level()) {
    case Level::Avx512:
      return &NewestBlocks<Prim::Add, D>::run_product;
    case Level::Avx2:
      return &Avx2Blocks<Prim::Add, D>::run_product;
    case Level::Base:
      return &BaseBlocks<Prim::Add, D>::run_product;
  }
  return nullptr;
}

template <Prim P, DType D>
void combine(void* out_, const std::int64_t* offsets, const void* values_, std::int64_t stride,
             std::int64_t n) {
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

template <bool Max, DType D>
ArgFunctions arg_of() {
  constexpr Prim kPrim = Max ? Prim::Max : Prim::Min;
  using F = Extreme<Max, D>;
  using Base = BaseBlocks<kPrim, D>;
  using Avx2 = Avx2Blocks<kPrim, D>;
  using Avx512 = NewestBlocks<kPrim, D>;
  constexpr bool kHasBlocks = D != DType::Bool && D != DType::Float16 && D != DType::BFloat16;
  ArgFunctions functions = {nullptr, &F::across, nullptr};
  switch (cpu_level()) {
    case Level::Avx512:
      functions.each_lane = &Avx512::each_lane;
      functions.combine = &Avx512::combine_args;
      if constexpr (kHasBlocks) functions.across = &Avx512::run_arg;
      break;
    case Level::Avx2:
      functions.each_lane = &Avx2::each_lane;
      functions.combine = &Avx2::combine_args;
      if constexpr (kHasBlocks) functions.across = &Avx2::run_arg;
      break;
    case Level::Base:
      functions.each_lane = &Base::each_lane;
      functions.combine = &Base::combine_args;
      if constexpr (kHasBlocks) functions.across = &Base::run_arg;
      break;
  }
  return functions;
}

// Calls f.operator()<DType>().
template <class F>
auto with_dtype(DType dtype, F f) {
  switch (dtype) {
    case DType::Bool:
      return f.template operator()<DType::Bool>();
    case DType::Int8:
      return f.template operator()<DType::Int8>();
    case DType::Int16:
      return f.template operator()<DType::Int16>();
    case DType::Int32:
      return f.template operator()<DType::Int32>();
    case DType::Int64:
      return f.template operator()<DType::Int64>();
    case DType::UInt8:
      return f.template operator()<DType::UInt8>();
    case DType::UInt16:
      return f.template operator()<DType::UInt16>();
    case DType::UInt32:
      return f.template operator()<DType::UInt32>();
    case DType::UInt64:
      return f.template operator()<DType::UInt64>();
    case DType::Float16:
      return f.template operator()<DType::Float16>();
    case DType::BFloat16:
      return f.template operator()<DType::BFloat16>();
    case DType::Float32:
      return f.template operator()<DType::Float32>();
    case DType::Float64:
      return f.template operator()<DType::Float64>();
  }
  return decltype(f.template operator()<DType::Bool>()){};
}

}  // namespace
}  // namespace ops

FoldFunction lane_fold(ReduceOp op, DType dtype) {
  return ops::with_dtype(dtype, [op]<DType D>() -> FoldFunction {
    switch (loops::prim_of(op)) {
      case Prim::Add:
        return ops::fold_of<Prim::Add, D>();
      case Prim::Mul:
        return ops::fold_of<Prim::Mul, D>();
      case Prim::Max:
        return ops::fold_of<Prim::Max, D>();
      case Prim::Min:
        return ops::fold_of<Prim::Min, D>();
      case Prim::And:
        return ops::fold_of<Prim::And, D>();
      case Prim::Or:
        return ops::fold_of<Prim::Or, D>();
      default:
        return nullptr;
    }
  });
}

FoldProductFunction lane_fold_product(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return ops::fold_product_of<DType::Float32>();
    case DType::Float64:
      return ops::fold_product_of<DType::Float64>();
    case DType::Int32:
      return ops::fold_product_of<DType::Int32>();
    case DType::Int64:
      return ops::fold_product_of<DType::Int64>();
    default:
      return nullptr;
  }
}

CombineFunction lane_combine(ReduceOp op, DType dtype) {
  if (op == ReduceOp::Set) return lane_scatter(lang::size_of(dtype));
  return ops::with_dtype(dtype, [op]<DType D>() -> CombineFunction {
    switch (loops::prim_of(op)) {
      case Prim::Add:
        return ops::combine_of<Prim::Add, D>();
      case Prim::Mul:
        return ops::combine_of<Prim::Mul, D>();
      case Prim::Max:
        return ops::combine_of<Prim::Max, D>();
      case Prim::Min:
        return ops::combine_of<Prim::Min, D>();
      case Prim::And:
        return ops::combine_of<Prim::And, D>();
      case Prim::Or:
        return ops::combine_of<Prim::Or, D>();
      default:
        return nullptr;
    }
  });
}

ArgFunctions lane_arg(ReduceOp op, DType dtype) {
  return ops::with_dtype(dtype, [op]<DType D>() {
    return op == ReduceOp::ArgMax ? ops::arg_of<true, D>() : ops::arg_of<false, D>();
  });
}

}  // namespace relay::interp
