#include "kernels/contraction.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <vector>

#include "kernels/product.h"
#include "kernels/scratch.h"

namespace relay::kernels {

namespace {

using lang::DType;
using loops::Contraction;
using loops::ContractionAxis;
using loops::LibraryKernel;

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

// c = sum over `folded` of a * b, for each of `outer`.
struct Plan {
  std::int64_t m = 1, n = 1, k = 1;
  MatrixStrides a, b;
  std::int64_t c_row = 0;   // its columns lie side by side
  bool is_swapped = false;  // a and b are the contraction's b and a
  bool adds = false;        // to c
  std::vector<ContractionAxis> outer;
  std::vector<ContractionAxis> folded;

  double products() const {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

std::int64_t count_of(const std::vector<ContractionAxis>& axes) {
  std::int64_t count = 1;
  for (const ContractionAxis& axis : axes) count *= axis.extent;
  return count;
}

// Offsets of point `index` of the axes, row-major.
ContractionAxis offsets_of(const std::vector<ContractionAxis>& axes, std::int64_t index) {
  ContractionAxis sum{1, 0, 0, 0};
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t at = index % axes[i].extent;
    index /= axes[i].extent;
    sum.a += at * axes[i].a;
    sum.b += at * axes[i].b;
    sum.c += at * axes[i].c;
  }
  return sum;
}

// One axis of each kind as the matrices, or -1 for none.
struct Choice {
  int row = -1, column = -1, contracted = -1;
};

std::optional<Plan> plan_with(const Contraction& form, Choice choice) {
  const auto axis = [](const std::vector<ContractionAxis>& axes, int at) {
    return at < 0 ? ContractionAxis{1, 0, 0, 0} : axes[static_cast<std::size_t>(at)];
  };
  const ContractionAxis row = axis(form.rows, choice.row);
  const ContractionAxis column = axis(form.columns, choice.column);
  const ContractionAxis inner = axis(form.contracted, choice.contracted);
  // The transposed product is the product of the transposed, in the other order.
  const bool is_swapped = column.extent == 1 || column.c != 1;
  if (is_swapped && row.extent != 1 && row.c != 1) return std::nullopt;
  Plan plan;
  plan.k = inner.extent;
  plan.adds = form.adds;
  plan.is_swapped = is_swapped;
  plan.m = is_swapped ? column.extent : row.extent;
  plan.n = is_swapped ? row.extent : column.extent;
  plan.a = is_swapped ? MatrixStrides{column.b, inner.b} : MatrixStrides{row.a, inner.a};
  plan.b = is_swapped ? MatrixStrides{inner.a, row.a} : MatrixStrides{inner.b, column.b};
  plan.c_row = is_swapped ? column.c : row.c;
  const auto rest = [](const std::vector<ContractionAxis>& axes, int without,
                       std::vector<ContractionAxis>& to) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (static_cast<int>(i) != without) to.push_back(axes[i]);
    }
  };
  rest(form.batch, -1, plan.outer);
  rest(form.rows, choice.row, plan.outer);
  rest(form.columns, choice.column, plan.outer);
  rest(form.contracted, choice.contracted, plan.folded);
  if (plan.is_swapped) {
    for (auto* axes : {&plan.outer, &plan.folded}) {
      for (ContractionAxis& each : *axes) std::swap(each.a, each.b);
    }
  }
  return plan;
}

// The largest matrices that the strides allow.
std::optional<Plan> best_plan(const Contraction& form) {
  std::optional<Plan> best;
  const auto options = [](const std::vector<ContractionAxis>& axes) {
    return static_cast<int>(axes.size());
  };
  for (int row = -1; row < options(form.rows); ++row) {
    for (int column = -1; column < options(form.columns); ++column) {
      for (int contracted = -1; contracted < options(form.contracted); ++contracted) {
        auto plan = plan_with(form, {row, column, contracted});
        if (plan && (!best || plan->products() > best->products())) best = std::move(plan);
      }
    }
  }
  return best;
}

std::int64_t half(std::int64_t extent) { return ((extent + 1) / 2 + kGrain - 1) / kGrain * kGrain; }
std::int64_t parts_of(std::int64_t extent, std::int64_t each) { return (extent + each - 1) / each; }

template <class T>
class Products final : public LibraryKernel {
 public:
  Products(Plan plan, const Tiles<T>& tiles) : plan_(std::move(plan)), tiles_(tiles) {
    outer_ = count_of(plan_.outer);
    folded_ = count_of(plan_.folded);
    choose_tiles();
    choose_chunks();
  }

  void run(const void* left, const void* right, void* result,
           const Parallel& parallel) const override {
    const auto* a = static_cast<const T*>(plan_.is_swapped ? right : left);
    const auto* b = static_cast<const T*>(plan_.is_swapped ? left : right);
    auto* const c = static_cast<T*>(result);
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
      TileProduct product(*this, tile, chunk);
      for (std::int64_t i = first; i < std::min(first + bundle_, outer_); ++i) {
        const ContractionAxis at = offsets_of(plan_.outer, i);
        const bool is_first = chunk == 0;
        T* const to = is_first ? c + at.c : sums + ((chunk - 1) * outer_ + i) * size;
        product.run(a + at.a, b + at.b, to, is_first ? plan_.c_row : plan_.n);
      }
    };
    // A function by reference takes no memory.
    parallel(static_cast<int>(bundles * tiles * chunks_), std::cref(do_part));
    if (chunks_ > 1) add_chunks(c, sums, parallel);
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
      larger = half(larger);
      return true;
    };
    const auto tiles = [&] { return parts_of(plan_.m, tile_m_) * parts_of(plan_.n, tile_n_); };
    while (work() > kLargePart && split_down_to(kTile)) continue;
    while (work() > kLargePart && tiles() * outer_ < kFewParts && split_down_to(kSmallTile))
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
  class TileProduct {
   public:
    TileProduct(const Products& all, std::int64_t tile, std::int64_t chunk)
        : all_(all),
          plan_(all.plan_),
          row_(tile / all.tiles_n_ * all.tile_m_),
          column_(tile % all.tiles_n_ * all.tile_n_),
          rows_(std::min(all.tile_m_, plan_.m - row_)),
          columns_(std::min(all.tile_n_, plan_.n - column_)),
          adds_(chunk == 0 && plan_.adds),
          sum_(all.sum_of(chunk)),
          whole_(product(std::min(sum_.k1 - sum_.k0, kLongestSum))),
          rest_(product(sum_.parts > 1 ? (sum_.k1 - sum_.k0 - 1) % kLongestSum + 1 : 1)),
          scratch_((sum_.depth() * static_cast<std::size_t>(rows_ * columns_) + whole_.scratch()) *
                   sizeof(T)) {}

    void run(const T* a, const T* b, T* c, std::int64_t c_row) const {
      auto* const sums = reinterpret_cast<T*>(scratch_.data()) + whole_.scratch();
      add_pieces(0, sum_.pieces, a + row_ * plan_.a.row, b + column_ * plan_.b.column, adds_,
                 c + row_ * c_row + column_, c_row, sums);
    }

   private:
    Product<T> product(std::int64_t k) const {
      return {all_.tiles_, plan_.m, columns_, k, plan_.a, plan_.b};
    }

    // Of n > 1 pieces, the first p, where p is the largest power of two below n, and then the
    // others.
    void add_pieces(std::int64_t first, std::int64_t last, const T* a, const T* b, bool adds, T* c,
                    std::int64_t c_row, T* sums) const {
      if (last - first <= 1) {
        add_piece(first, a, b, adds, c, c_row);
        return;
      }
      const auto half =
          static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(last - first - 1)));
      add_pieces(first, first + half, a, b, adds, c, c_row, sums);
      add_pieces(first + half, last, a, b, false, sums, columns_, sums + rows_ * columns_);
      for (std::int64_t row = 0; row < rows_; ++row) {
        for (std::int64_t i = 0; i < columns_; ++i) c[row * c_row + i] += sums[row * columns_ + i];
      }
    }

    void add_piece(std::int64_t piece, const T* a, const T* b, bool adds, T* c,
                   std::int64_t c_row) const {
      const bool is_part = sum_.parts > 1;
      const std::int64_t part = is_part ? piece % sum_.parts : 0;
      const std::int64_t begin =
          is_part ? sum_.f0 + piece / sum_.parts : sum_.f0 + piece * sum_.calls;
      const std::int64_t end = is_part ? begin + 1 : std::min(begin + sum_.calls, sum_.f1);
      const std::int64_t k0 = sum_.k0 + part * kLongestSum;
      const Product<T>& product = is_part && part == sum_.parts - 1 ? rest_ : whole_;
      a += k0 * plan_.a.column;
      b += k0 * plan_.b.row;
      for (std::int64_t f = begin; f < end; ++f) {
        const ContractionAxis at = offsets_of(plan_.folded, f);
        product.multiply(a + at.a, b + at.b, c, c_row, adds || f > begin, 0, rows_,
                         reinterpret_cast<T*>(scratch_.data()));
      }
    }

    const Products& all_;
    const Plan& plan_;
    std::int64_t row_, column_, rows_, columns_;
    bool adds_;
    Sum sum_;
    Product<T> whole_, rest_;  // a piece, and the last part of k where that falls into parts
    Scratch scratch_;
  };

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

  Plan plan_;
  const Tiles<T>& tiles_;
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
