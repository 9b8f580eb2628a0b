#include "interp/lanes_loops.h"

namespace relay::interp {

using lang::DType;

namespace ops {
namespace {

template <DType From, DType To>
struct CastLoop {
  using Op = Conversion<From, To>;
  static constexpr bool kHasNarrow = kIsNarrow<From> || kIsNarrow<To>;
  RELAY_LANES_BODY bool vv(void* out_, const void* in_, const void*, std::int64_t n) {
    auto* out = static_cast<typename Op::Result*>(out_);
    const auto* in = static_cast<const typename Op::Operand*>(in_);
    RELAY_LANES_LOOP
    for (std::int64_t i = 0; i < n; ++i) out[i] = Op::apply(in[i]);
    return true;
  }
  RELAY_LANES_BODY bool sv(void* out, const void* in, const void* b, std::int64_t n) {
    return vv(out, in, b, n);
  }
  RELAY_LANES_BODY bool vs(void* out, const void* in, const void* b, std::int64_t n) {
    return vv(out, in, b, n);
  }
};

using Row = std::array<LaneFunction, lang::kDTypeCount>;
using Table = std::array<Row, lang::kDTypeCount>;

template <template <class> class At, DType From, std::size_t... To>
constexpr Row row(std::index_sequence<To...>) {
  return {&At<CastLoop<From, static_cast<DType>(To)>>::vv...};
}
template <template <class> class At, std::size_t... From>
constexpr Table table(std::index_sequence<From...>) {
  return {row<At, static_cast<DType>(From)>(std::make_index_sequence<lang::kDTypeCount>())...};
}

constexpr auto kAll = std::make_index_sequence<lang::kDTypeCount>();
constexpr std::array<Table, kLevelCount> kCasts = {table<BaseLevel>(kAll), table<Avx2Level>(kAll),
                                                   table<NewestLevel>(kAll)};

}  // namespace
}  // namespace ops

LaneFunction lane_cast(DType from, DType to) {
  return ops::kCasts[static_cast<std::size_t>(ops::cpu_level())][static_cast<std::size_t>(from)]
                    [static_cast<std::size_t>(to)];
}

}  // namespace relay::interp
