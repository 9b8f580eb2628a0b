#include "kernels/contraction.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <optional>

#include "kernels/contraction_plan.h"
#include "kernels/panels.h"
#include "kernels/product.h"
#include "kernels/scratch.h"

namespace relay::kernels {

namespace {

using lang::DType;
using loops::Contraction;
using loops::ContractionAxis;
using loops::LibraryKernel;
using loops::LibraryOperand;

// Matrices of fewer products are over in the loops before a tile begins, and so is a vector times a
// matrix, which takes as long as reading the matrix, but for sums along its rows.
constexpr double kTinyMatrix = 256;
constexpr std::int64_t kFewestRows = 4;
// How the work falls into parts. Products of a part: fewer cost more than waking a thread saves.
constexpr double kSmallPart = 2'097'152;
constexpr double kLargePart = 8'388'608;
constexpr std::int64_t kTile = 256;       // rows or columns, where there are many
constexpr std::int64_t kSmallTile = 128;  // where that makes too few parts
constexpr std::int64_t kFewParts = 4;
constexpr std::int64_t kGrain = 16;  // tiles begin at multiples of this
// How long a sum may be in one go, which for long sums of float32 is wrong in the fourth digit.
// Longer ones are summed in pieces, and these pairwise.
constexpr std::int64_t kLongestSum = 4096;
constexpr std::int64_t kMostCalls = 128;  // that make a piece together
// Where b takes more memory as panels, it is packed a part at a time. One matrix of it in the cache
// of a core:
constexpr std::size_t kMostPanels = std::size_t{64} << 20;
constexpr std::size_t kMostMatrix = std::size_t{1} << 20;

std::int64_t parts_of(std::int64_t extent, std::int64_t each) { return (extent + each - 1) / each; }
// In multiples of `grain`.
std::int64_t half(std::int64_t extent, std::int64_t grain) {
  return parts_of((extent + 1) / 2, grain) * grain;
}

template <class T>
class Products final : public LibraryKernel {
 public:
  Products(ContractionPlan plan, const Tiles<T>& tiles)
      : plan_(std::move(plan)), product_(tiles, plan_.m, plan_.n, plan_.k, plan_.a, plan_.b) {
    outer_ = count_of(plan_.outer);
    folded_ = count_of(plan_.folded);
    choose_tiles();
    choose_chunks();
  }

  void run(const LibraryOperand& left, const LibraryOperand& right, void* result,
           const Parallel& parallel) const override {
    const LibraryOperand& b_operand = plan_.is_swapped ? left : right;
    const auto* a = static_cast<const T*>(plan_.is_swapped ? right.data : left.data);
    const auto* b = static_cast<const T*>(b_operand.data);
    auto* const c = static_cast<T*>(result);
    const auto kept =
        is_summed_at_once() ? kept_.find(plan_, product_, b_operand, parallel) : nullptr;
    const std::int64_t tiles = tiles_m_ * tiles_n_;
    // All chunks but the first sum up in memory of their own, a dense matrix for each product.
    const std::int64_t size = plan_.m * plan_.n;
    const auto bytes = static_cast<std::size_t>((chunks_ - 1) * outer_ * size) * sizeof(T);
    const Scratch scratch(bytes);
    auto* const sums = reinterpret_cast<T*>(scratch.data());
    const std::int64_t bundles = parts_of(outer_, bundle_);
    const auto do_part = [&](int part) {
      const std::int64_t chunk = part % chunks_;
      const std::int64_t tile = part / chunks_ % tiles;
      const std::int64_t first = part / chunks_ / tiles * bundle_;
      const TileSum sum(*this, tile, chunk);
      for (std::int64_t i = first; i < std::min(first + bundle_, outer_); ++i) {
        const ContractionAxis at = offsets_of(plan_.outer, i);
        const bool is_first = chunk == 0;
        T* const to = is_first ? c + at.c : sums + ((chunk - 1) * outer_ + i) * size;
        sum.run({a + at.a, b + at.b, to, is_first ? plan_.c_row : plan_.n, is_first && plan_.adds},
                kept ? kept->of(i) : nullptr);
      }
    };
    // A function by reference takes no memory.
    parallel(static_cast<int>(bundles * tiles * chunks_), std::cref(do_part));
    if (chunks_ > 1) add_chunks(c, sums, parallel);
  }

  std::optional<loops::RowWise> by_rows() const override {
    if (!is_summed_at_once() || Panels<T>::bytes(plan_, product_) > kMostPanels)
      return std::nullopt;
    return rows_of(plan_);
  }

  Rows begin_rows(const LibraryOperand& left, const LibraryOperand& right, void* result,
                  const Parallel& parallel) const override {
    const LibraryOperand& b_operand = plan_.is_swapped ? left : right;
    const auto* a = static_cast<const T*>(plan_.is_swapped ? right.data : left.data);
    const auto* b = static_cast<const T*>(b_operand.data);
    auto* const c = static_cast<T*>(result);
    auto panels = kept_.find(plan_, product_, b_operand, parallel);
    if (!panels) panels = std::make_shared<const Panels<T>>(plan_, product_, b, parallel);
    return [this, a, b, c, panels](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t outer = begin / plan_.m;
        const std::int64_t row = begin % plan_.m;
        const std::int64_t last = std::min(row + (end - begin), plan_.m);
        const ContractionAxis at = offsets_of(plan_.outer, outer);
        product_.multiply_packed(
            {a + at.a, b + at.b, c + at.c + row * plan_.c_row, plan_.c_row, plan_.adds},
            {row, last, 0, plan_.n, 0, plan_.k}, panels->of(outer));
        begin += last - row;
      }
    };
  }

 private:
  void choose_tiles() {
    tile_m_ = plan_.m;
    tile_n_ = plan_.n;
    const auto work = [&] {
      return static_cast<double>(tile_m_) * static_cast<double>(tile_n_) *
             static_cast<double>(plan_.k) * static_cast<double>(folded_);
    };
    const auto split_down_to = [&](std::int64_t edge) {
      std::int64_t& larger = tile_m_ >= tile_n_ ? tile_m_ : tile_n_;
      if (larger <= edge) return false;
      larger = half(larger, &larger == &tile_n_ ? product_.columns_apart() : kGrain);
      return true;
    };
    const auto tiles = [&] { return parts_of(plan_.m, tile_m_) * parts_of(plan_.n, tile_n_); };
    while (work() > kLargePart && split_down_to(kTile)) continue;
    while (work() > 2 * kSmallPart && tiles() * outer_ < kFewParts && split_down_to(kSmallTile))
      continue;
    tiles_m_ = parts_of(plan_.m, tile_m_);
    tiles_n_ = parts_of(plan_.n, tile_n_);
    bundle_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(kSmallPart / work()), 1, outer_);
  }

  // Where a long sum makes a small matrix, the sum falls into parts.
  void choose_chunks() {
    const std::int64_t parts = tiles_m_ * tiles_n_ * parts_of(outer_, bundle_);
    const double work = plan_.products() * static_cast<double>(folded_ * outer_);
    if (parts >= kFewParts || work < 2 * kLargePart) return;
    const std::int64_t longest = std::max(folded_, plan_.k / kSmallTile);
    chunks_ = std::clamp<std::int64_t>(longest, 1, kFewParts);
    splits_folded_ = folded_ >= plan_.k / kSmallTile;
  }

  // The products of a tile, at `f` in [f0, f1) of the folded axes and `k` in [k0, k1), in pieces:
  // a part of k, or several f.
  struct Sum {
    Sum(std::int64_t from_f, std::int64_t to_f, std::int64_t from_k, std::int64_t to_k)
        : f0(from_f), f1(to_f), k0(from_k), k1(to_k) {
      const std::int64_t length = std::max<std::int64_t>(k1 - k0, 1);
      parts = parts_of(length, kLongestSum);
      calls = std::clamp<std::int64_t>(kLongestSum / length, 1, kMostCalls);
      pieces = parts > 1 ? (f1 - f0) * parts : parts_of(f1 - f0, calls);
    }
    // How many matrices wait to be added at most.
    std::size_t depth() const {
      return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(pieces - 1)));
    }
    std::int64_t f0, f1, k0, k1;
    std::int64_t parts;   // of k
    std::int64_t calls;   // in a piece; each is of one f
    std::int64_t pieces;  // at least one
  };

  // One chunk of the sum for one tile of c, for the matrices that it is given one after the other.
  class TileSum {
   public:
    using Call = typename Product<T>::Call;

    TileSum(const Products& all, std::int64_t tile, std::int64_t chunk)
        : plan_(all.plan_), product_(all.product_), sum_(all.sum_of(chunk)) {
      tile_.row0 = tile / all.tiles_n_ * all.tile_m_;
      tile_.row1 = std::min(tile_.row0 + all.tile_m_, plan_.m);
      tile_.column0 = tile % all.tiles_n_ * all.tile_n_;
      tile_.column1 = std::min(tile_.column0 + all.tile_n_, plan_.n);
      scratch_.emplace((sum_.depth() * static_cast<std::size_t>(size()) + product_.scratch()) *
                       sizeof(T));
    }

    // `call.c` is the whole matrix. `panels`: of b, where there are.
    void run(Call call, const T* panels) const {
      call.c += tile_.row0 * call.c_row + tile_.column0;
      if (panels) {
        product_.multiply_packed(call, tile_of(0, plan_.k), panels);
      } else {
        add_pieces(0, sum_.pieces, call, scratch() + product_.scratch());
      }
    }

   private:
    std::int64_t size() const {
      return (tile_.row1 - tile_.row0) * (tile_.column1 - tile_.column0);
    }
    T* scratch() const { return reinterpret_cast<T*>(scratch_->data()); }
    ProductPart tile_of(std::int64_t k0, std::int64_t k1) const {
      ProductPart part = tile_;
      part.k0 = k0;
      part.k1 = k1;
      return part;
    }

    // Of n > 1 pieces, the first p, where p is the largest power of two below n, and then the
    // others.
    void add_pieces(std::int64_t first, std::int64_t last, const Call& call, T* sums) const {
      if (last - first <= 1) {
        add_piece(first, call);
        return;
      }
      const auto half =
          static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(last - first - 1)));
      add_pieces(first, first + half, call, sums);
      const std::int64_t columns = tile_.column1 - tile_.column0;
      add_pieces(first + half, last, {call.a, call.b, sums, columns, false}, sums + size());
      for (std::int64_t row = 0; row < tile_.row1 - tile_.row0; ++row) {
        T* const to = call.c + row * call.c_row;
        for (std::int64_t i = 0; i < columns; ++i) to[i] += sums[row * columns + i];
      }
    }

    void add_piece(std::int64_t piece, const Call& call) const {
      const bool is_part = sum_.parts > 1;
      const std::int64_t part = is_part ? piece % sum_.parts : 0;
      const std::int64_t begin =
          is_part ? sum_.f0 + piece / sum_.parts : sum_.f0 + piece * sum_.calls;
      const std::int64_t end = is_part ? begin + 1 : std::min(begin + sum_.calls, sum_.f1);
      const std::int64_t k0 = sum_.k0 + part * kLongestSum;
      const std::int64_t k1 = is_part ? std::min(k0 + kLongestSum, sum_.k1) : sum_.k1;
      for (std::int64_t f = begin; f < end; ++f) {
        const ContractionAxis at = offsets_of(plan_.folded, f);
        product_.multiply(
            {call.a + at.a, call.b + at.b, call.c, call.c_row, call.adds || f > begin},
            tile_of(k0, k1), scratch());
      }
    }

    const ContractionPlan& plan_;
    const Product<T>& product_;
    Sum sum_;
    ProductPart tile_{};
    std::optional<Scratch> scratch_;
  };

  // Is the sum of an element one call of the product?
  bool is_summed_at_once() const { return chunks_ == 1 && folded_ == 1 && plan_.k <= kLongestSum; }

  Sum sum_of(std::int64_t chunk) const {
    const auto begin_of = [&](std::int64_t of, std::int64_t whole) { return of * whole / chunks_; };
    if (splits_folded_) return {begin_of(chunk, folded_), begin_of(chunk + 1, folded_), 0, plan_.k};
    return {0, folded_, begin_of(chunk, plan_.k), begin_of(chunk + 1, plan_.k)};
  }

  void add_chunks(T* c, const T* sums, const Parallel& parallel) const {
    const std::int64_t rows = outer_ * plan_.m;
    const std::int64_t each = std::max<std::int64_t>(65536 / plan_.n, 1);
    parallel(static_cast<int>(parts_of(rows, each)), [&](int part) {
      const std::int64_t begin = part * each;
      for (std::int64_t row = begin; row < std::min(begin + each, rows); ++row) {
        T* const to = c + offsets_of(plan_.outer, row / plan_.m).c + row % plan_.m * plan_.c_row;
        for (std::int64_t chunk = 1; chunk < chunks_; ++chunk) {
          const T* const from = sums + ((chunk - 1) * rows + row) * plan_.n;
          for (std::int64_t i = 0; i < plan_.n; ++i) to[i] += from[i];
        }
      }
    });
  }

  ContractionPlan plan_;
  Product<T> product_;
  mutable KeptPanels<T> kept_;
  std::int64_t outer_ = 1, folded_ = 1;
  std::int64_t tile_m_ = 1, tile_n_ = 1, tiles_m_ = 1, tiles_n_ = 1;
  std::int64_t bundle_ = 1;  // products that a part does one after the other
  std::int64_t chunks_ = 1;
  bool splits_folded_ = true;
};

}  // namespace

std::shared_ptr<const LibraryKernel> make_contraction(const Contraction& form, Level level) {
  if (form.dtype != DType::Float32 && form.dtype != DType::Float64) return nullptr;
  auto plan = best_plan(form);
  if (!plan || plan->products() < kTinyMatrix) return nullptr;
  const bool sums_rows = plan->m == 1 && plan->b.row == 1 && plan->n >= kFewestRows;
  if (std::min(plan->m, plan->n) < kFewestRows && !sums_rows) return nullptr;
  if (form.dtype == DType::Float32)
    return std::make_shared<Products<float>>(std::move(*plan), tiles<float>(level));
  return std::make_shared<Products<double>>(std::move(*plan), tiles<double>(level));
}

}  // namespace relay::kernels
