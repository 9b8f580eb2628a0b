#include "interp/lanes_ops.h"

#include "interp/lanes_loops.h"

namespace relay::interp {

using lang::DType;
using lang::Prim;

namespace ops {

namespace {

Level detect() {
#if RELAY_LANES_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma")) {
    return Level::Avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Level::Avx2;
#endif
  return Level::Base;
}

}  // namespace

Level cpu_level() {
  static const Level level = detect();
  return level;
}

namespace {

const DTypeLoops& loops_for(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return loops_float32();
    case DType::Float64:
      return loops_float64();
    case DType::Float16:
    case DType::BFloat16:
      return loops_half(dtype);
    case DType::Int32:
    case DType::Int64:
    case DType::UInt32:
    case DType::UInt64:
      return loops_int(dtype);
    default:
      return loops_small_int(dtype);
  }
}

// --- Select: by element size ---

template <class T, unsigned Uniform>
struct SelectLoop {
  RELAY_LANES_BODY bool run(void* out_, const void* condition_, const void* a_, const void* b_,
                            std::int64_t n) {
    auto* out = static_cast<T*>(out_);
    const auto* condition = static_cast<const std::uint8_t*>(condition_);
    const auto* a = static_cast<const T*>(a_);
    const auto* b = static_cast<const T*>(b_);
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = a[(Uniform & 2) != 0 ? 0 : i];
      const T y = b[(Uniform & 4) != 0 ? 0 : i];
      out[i] = condition[(Uniform & 1) != 0 ? 0 : i] != 0 ? x : y;
    }
    return true;
  }
};

#define RELAY_SELECT_LEVEL(Name, attributes)                                           \
  template <class Body>                                                                \
  struct Name {                                                                        \
    attributes static bool run(void* out, const void* a, const void* b, const void* c, \
                               std::int64_t n) {                                       \
      return Body::run(out, a, b, c, n);                                               \
    }                                                                                  \
  };
RELAY_SELECT_LEVEL(SelectBase, RELAY_TARGET_BASE)
#if RELAY_LANES_X86
RELAY_SELECT_LEVEL(SelectAvx2, RELAY_TARGET_AVX2)
RELAY_SELECT_LEVEL(SelectAvx512, RELAY_TARGET_AVX512)
#else
template <class Body>
using SelectAvx2 = SelectBase<Body>;
template <class Body>
using SelectAvx512 = SelectBase<Body>;
#endif

template <class T, std::size_t... U>
LaneFunction select_of(unsigned uniform, std::index_sequence<U...>) {
  static constexpr LaneFunction kBase[] = {&SelectBase<SelectLoop<T, U>>::run...};
  static constexpr LaneFunction kAvx2[] = {&SelectAvx2<SelectLoop<T, U>>::run...};
  static constexpr LaneFunction kAvx512[] = {&SelectAvx512<SelectLoop<T, U>>::run...};
  switch (cpu_level()) {
    case Level::Avx512:
      return kAvx512[uniform];
    case Level::Avx2:
      return kAvx2[uniform];
    case Level::Base:
      return kBase[uniform];
  }
  return nullptr;
}

// --- Moves: by element size ---

template <class T>
void copy(void* out_, std::int64_t out_stride, const void* in_, std::int64_t in_stride,
          std::int64_t n) {
  auto* out = static_cast<T*>(out_);
  const auto* in = static_cast<const T*>(in_);
  if (out_stride == 1 && in_stride == 1) {
    __builtin_memcpy(out, in, static_cast<std::size_t>(n) * sizeof(T));
  } else if (out_stride == 1 && in_stride == 0) {
    const T value = *in;
    for (std::int64_t i = 0; i < n; ++i) out[i] = value;
  } else if (out_stride == 1) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = in[i * in_stride];
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

template <class T>
void gather(void* out_, const void* in_, const std::int64_t* offsets, std::int64_t n) {
  auto* out = static_cast<T*>(out_);
  const auto* in = static_cast<const T*>(in_);
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[offsets[i]];
}

template <class T>
void masked(void* out_, const void* in_, const std::int64_t* offsets, std::int64_t stride,
            const std::uint8_t* mask, std::int64_t n) {
  auto* out = static_cast<T*>(out_);
  const auto* in = static_cast<const T*>(in_);
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = mask[i] != 0 ? in[offsets ? offsets[i] : i * stride] : T(0);
}

template <class T>
void scatter(void* out_, const std::int64_t* offsets, const void* in_, std::int64_t in_stride,
             std::int64_t n) {
  auto* out = static_cast<T*>(out_);
  const auto* in = static_cast<const T*>(in_);
  for (std::int64_t i = 0; i < n; ++i) out[offsets[i]] = in[i * in_stride];
}

template <class F>
F by_size(std::size_t size, F one, F two, F four, F eight) {
  switch (size) {
    case 1:
      return one;
    case 2:
      return two;
    case 4:
      return four;
    default:
      return eight;
  }
}

}  // namespace
}  // namespace ops

LaneFunction lane_primitive(Prim prim, DType operand, unsigned uniform) {
  if (prim == Prim::Select) return lane_select(lang::size_of(operand), uniform);
  const auto& loops =
      ops::loops_for(operand).primitives[static_cast<std::size_t>(ops::cpu_level())];
  return loops[static_cast<std::size_t>(prim)][uniform];
}

LaneFunction lane_select(std::size_t element_size, unsigned uniform) {
  constexpr auto kAll = std::make_index_sequence<8>();
  switch (element_size) {
    case 1:
      return ops::select_of<std::uint8_t>(uniform, kAll);
    case 2:
      return ops::select_of<std::uint16_t>(uniform, kAll);
    case 4:
      return ops::select_of<std::uint32_t>(uniform, kAll);
    default:
      return ops::select_of<std::uint64_t>(uniform, kAll);
  }
}

LaneFunction lane_multiply_add(DType dtype, unsigned uniform) {
  return uniform > 2 ? nullptr
                     : ops::loops_for(dtype)
                           .multiply_add[uniform][static_cast<std::size_t>(ops::cpu_level())];
}

CopyFunction lane_copy(std::size_t size) {
  return ops::by_size<CopyFunction>(size, &ops::copy<std::uint8_t>, &ops::copy<std::uint16_t>,
                                    &ops::copy<std::uint32_t>, &ops::copy<std::uint64_t>);
}

GatherFunction lane_gather(std::size_t size) {
  return ops::by_size<GatherFunction>(size, &ops::gather<std::uint8_t>, &ops::gather<std::uint16_t>,
                                      &ops::gather<std::uint32_t>, &ops::gather<std::uint64_t>);
}

MaskedFunction lane_masked(std::size_t size) {
  return ops::by_size<MaskedFunction>(size, &ops::masked<std::uint8_t>, &ops::masked<std::uint16_t>,
                                      &ops::masked<std::uint32_t>, &ops::masked<std::uint64_t>);
}

ScatterFunction lane_scatter(std::size_t size) {
  return ops::by_size<ScatterFunction>(size, &ops::scatter<std::uint8_t>,
                                       &ops::scatter<std::uint16_t>, &ops::scatter<std::uint32_t>,
                                       &ops::scatter<std::uint64_t>);
}

void lane_iota(std::int64_t* out, std::int64_t first, std::int64_t step, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = first + i * step;
}

void lane_add_scaled(std::int64_t* offsets, const std::int64_t* index, std::int64_t stride,
                     std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) offsets[i] += index[i] * stride;
}

bool lanes_in_range(const std::int64_t* index, std::int64_t extent, std::int64_t n) {
  // Unsigned, a negative index is a large one.
  bool good = true;
  for (std::int64_t i = 0; i < n; ++i)
    good &= static_cast<std::uint64_t>(index[i]) < static_cast<std::uint64_t>(extent);
  return good;
}

void lane_in_range(std::uint8_t* out, const std::int64_t* index, std::int64_t extent,
                   std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = static_cast<std::uint64_t>(index[i]) < static_cast<std::uint64_t>(extent) ? 1 : 0;
}

void lane_and(std::uint8_t* masks, const std::uint8_t* more, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) masks[i] &= more[i];
}

}  // namespace relay::interp
