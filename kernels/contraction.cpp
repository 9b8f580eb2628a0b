#include "kernels/contraction.h"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

#include <oneapi/dnnl/dnnl.h>

#include "kernels/scratch.h"

namespace relay::kernels {

namespace {

using lang::DType;
using loops::Contraction;
using loops::ContractionAxis;
using loops::LibraryKernel;

// Matrices of fewer products are no work for BLAS, nor are those of a few rows or columns: a vector
// times a matrix takes as long as reading the matrix, which the loops do as fast, but for sums
// along its rows.
constexpr double kTinyMatrix = 2048;
constexpr std::int64_t kFewestRows = 4;
// oneDNN is the faster one, but makes its code at its first call, which takes as long as hundreds
// of smaller products.
constexpr double kWorthOneDnn = 8'388'608;
// How the work falls into parts. Products of a part: fewer cost more than waking a thread saves.
constexpr double kSmallPart = 2'097'152;
constexpr double kLargePart = 8'388'608;
constexpr std::int64_t kTile = 256;       // rows or columns, where there are many
constexpr std::int64_t kSmallTile = 128;  // where that makes too few parts
constexpr std::int64_t kFewParts = 4;
constexpr std::int64_t kGrain = 16;  // tiles begin at multiples of this
// How long a library may sum: it does so nearly in one go, which for long sums of float32 is wrong
// in the fourth digit. Longer ones are summed in pieces, and these pairwise.
constexpr std::int64_t kLongestSum = 4096;
constexpr std::int64_t kMostCalls = 128;  // that make a piece together

struct Matrix {
  bool is_transposed = false;
  std::int64_t pitch = 1;  // from row to row, or from column to column
};

// c = sum over `folded` of a * b, for each of `outer`.
struct Plan {
  std::int64_t m = 1, n = 1, k = 1;
  Matrix a, b;
  std::int64_t c_pitch = 1;
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

// A matrix whose rows and columns are `row` and `column` apart.
std::optional<Matrix> matrix_of(std::int64_t rows, std::int64_t row, std::int64_t columns,
                                std::int64_t column) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (rows > kMost || columns > kMost) return std::nullopt;
  const auto fits = [&](std::int64_t count, std::int64_t pitch, std::int64_t length,
                        std::int64_t step) {
    return (step == 1 || length == 1) && (count == 1 || (pitch >= length && pitch <= kMost));
  };
  if (fits(rows, row, columns, column)) return Matrix{false, rows == 1 ? columns : row};
  if (fits(columns, column, rows, row)) return Matrix{true, columns == 1 ? rows : column};
  return std::nullopt;
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
  const auto a = matrix_of(row.extent, row.a, inner.extent, inner.a);
  const auto b = matrix_of(inner.extent, inner.b, column.extent, column.b);
  const auto c = matrix_of(row.extent, row.c, column.extent, column.c);
  if (!a || !b || !c) return std::nullopt;
  Plan plan;
  plan.k = inner.extent;
  plan.adds = form.adds;
  plan.is_swapped = c->is_transposed;
  plan.c_pitch = c->pitch;
  // The transposed product is the product of the transposed, in the other order.
  plan.m = plan.is_swapped ? column.extent : row.extent;
  plan.n = plan.is_swapped ? row.extent : column.extent;
  plan.a = plan.is_swapped ? Matrix{!b->is_transposed, b->pitch} : *a;
  plan.b = plan.is_swapped ? Matrix{!a->is_transposed, a->pitch} : *b;
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
  explicit Products(Plan plan) : plan_(std::move(plan)) {
    uses_dnnl_ = std::is_same_v<T, float> && plan_.products() >= kWorthOneDnn;
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
      for (std::int64_t i = first; i < std::min(first + bundle_, outer_); ++i) {
        const ContractionAxis at = offsets_of(plan_.outer, i);
        const bool is_first = chunk == 0;
        T* const to = is_first ? c + at.c : sums + ((chunk - 1) * outer_ + i) * size;
        multiply_tile(a + at.a, b + at.b, to, is_first ? plan_.c_pitch : plan_.n, tile, chunk);
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

  void multiply_tile(const T* a, const T* b, T* c, std::int64_t c_pitch, std::int64_t tile,
                     std::int64_t chunk) const {
    const std::int64_t row = tile / tiles_n_ * tile_m_;
    const std::int64_t column = tile % tiles_n_ * tile_n_;
    const std::int64_t rows = std::min(tile_m_, plan_.m - row);
    const std::int64_t columns = std::min(tile_n_, plan_.n - column);
    const auto begin_of = [&](std::int64_t of, std::int64_t whole) { return of * whole / chunks_; };
    const std::int64_t f0 = splits_folded_ ? begin_of(chunk, folded_) : 0;
    const std::int64_t f1 = splits_folded_ ? begin_of(chunk + 1, folded_) : folded_;
    const std::int64_t k0 = splits_folded_ ? 0 : begin_of(chunk, plan_.k);
    const std::int64_t k1 = splits_folded_ ? plan_.k : begin_of(chunk + 1, plan_.k);
    a += plan_.a.is_transposed ? row : row * plan_.a.pitch;
    b += plan_.b.is_transposed ? column * plan_.b.pitch : column;
    c += row * c_pitch + column;
    const Sum sum(f0, f1, k0, k1);
    const Scratch scratch(sum.depth() * static_cast<std::size_t>(rows * columns) * sizeof(T));
    const bool begins = chunk > 0 || !plan_.adds;
    add_pieces(sum, 0, sum.pieces, {rows, columns, a, b}, begins ? T(0) : T(1), c, c_pitch,
               reinterpret_cast<T*>(scratch.data()));
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
  struct Tile {
    std::int64_t rows, columns;
    const T* a;
    const T* b;
  };

  // Of n > 1 pieces, the first p, where p is the largest power of two below n, and then the others.
  void add_pieces(const Sum& sum, std::int64_t first, std::int64_t last, const Tile& tile, T beta,
                  T* c, std::int64_t c_pitch, T* scratch) const {
    if (last - first <= 1) {
      add_piece(sum, first, tile, beta, c, c_pitch);
      return;
    }
    const auto half =
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(last - first - 1)));
    add_pieces(sum, first, first + half, tile, beta, c, c_pitch, scratch);
    T* const rest = scratch;
    add_pieces(sum, first + half, last, tile, T(0), rest, tile.columns,
               scratch + tile.rows * tile.columns);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      for (std::int64_t i = 0; i < tile.columns; ++i)
        c[row * c_pitch + i] += rest[row * tile.columns + i];
    }
  }

  void add_piece(const Sum& sum, std::int64_t piece, const Tile& tile, T beta, T* c,
                 std::int64_t c_pitch) const {
    const bool is_part = sum.parts > 1;
    const std::int64_t part = is_part ? piece % sum.parts : 0;
    const std::int64_t begin = is_part ? sum.f0 + piece / sum.parts : sum.f0 + piece * sum.calls;
    const std::int64_t end = is_part ? begin + 1 : std::min(begin + sum.calls, sum.f1);
    const std::int64_t k0 = sum.k0 + part * kLongestSum;
    const std::int64_t k1 = is_part ? std::min(k0 + kLongestSum, sum.k1) : sum.k1;
    const T* const a = tile.a + k0 * (plan_.a.is_transposed ? plan_.a.pitch : 1);
    const T* const b = tile.b + k0 * (plan_.b.is_transposed ? 1 : plan_.b.pitch);
    for (std::int64_t f = begin; f < end; ++f) {
      const ContractionAxis at = offsets_of(plan_.folded, f);
      multiply(tile.rows, tile.columns, k1 - k0, a + at.a, b + at.b, f == begin ? beta : T(1), c,
               c_pitch);
    }
  }

  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T beta,
                T* c, std::int64_t c_pitch) const {
    if constexpr (std::is_same_v<T, float>) {
      if (uses_dnnl_) {
        omp_set_num_threads(1);  // of this thread: the parts are what runs in parallel
        const dnnl_status_t status =
            dnnl_sgemm(plan_.a.is_transposed ? 'T' : 'N', plan_.b.is_transposed ? 'T' : 'N', m, n,
                       k, 1.0f, a, plan_.a.pitch, b, plan_.b.pitch, beta, c, c_pitch);
        if (status != dnnl_success) throw std::bad_alloc();  // the arguments are right
        return;
      }
    }
    if (m == 1 || n == 1) {
      multiply_vector(m, n, k, a, b, beta, c, c_pitch);
      return;
    }
    const auto transposed = [](const Matrix& matrix) {
      return matrix.is_transposed ? CblasTrans : CblasNoTrans;
    };
    const auto number = [](std::int64_t value) { return static_cast<blasint>(value); };
    const auto call = [&](auto function) {
      function(CblasRowMajor, transposed(plan_.a), transposed(plan_.b), number(m), number(n),
               number(k), T(1), a, number(plan_.a.pitch), b, number(plan_.b.pitch), beta, c,
               number(c_pitch));
    };
    if constexpr (std::is_same_v<T, float>) {
      call(cblas_sgemm);
    } else {
      call(cblas_dgemm);
    }
  }

  // Where one of the matrices is a row or a column.
  void multiply_vector(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b,
                       T beta, T* c, std::int64_t c_pitch) const {
    const bool is_row = m == 1;
    const Matrix& matrix = is_row ? plan_.b : plan_.a;
    const Matrix& vector = is_row ? plan_.a : plan_.b;
    // The matrix as it lies: what the vector runs along is its columns, or its rows.
    const bool along_columns = is_row ? matrix.is_transposed : !matrix.is_transposed;
    const std::int64_t other = is_row ? n : m;
    const auto number = [](std::int64_t value) { return static_cast<blasint>(value); };
    const std::int64_t vector_step = vector.is_transposed == is_row ? vector.pitch : 1;
    const auto call = [&](auto function) {
      function(CblasRowMajor, along_columns ? CblasNoTrans : CblasTrans,
               number(along_columns ? other : k), number(along_columns ? k : other), T(1),
               is_row ? b : a, number(matrix.pitch), is_row ? a : b, number(vector_step), beta, c,
               number(is_row ? 1 : c_pitch));
    };
    if constexpr (std::is_same_v<T, float>) {
      call(cblas_sgemv);
    } else {
      call(cblas_dgemv);
    }
  }

  void add_chunks(T* c, const T* sums, const Parallel& parallel) const {
    const std::int64_t rows = outer_ * plan_.m;
    const std::int64_t each = std::max<std::int64_t>(65536 / plan_.n, 1);
    parallel(static_cast<int>(parts_of(rows, each)), [&](int part) {
      const std::int64_t begin = part * each;
      for (std::int64_t row = begin; row < std::min(begin + each, rows); ++row) {
        T* const to = c + offsets_of(plan_.outer, row / plan_.m).c + row % plan_.m * plan_.c_pitch;
        for (std::int64_t chunk = 1; chunk < chunks_; ++chunk) {
          const T* const from = sums + ((chunk - 1) * rows + row) * plan_.n;
          for (std::int64_t i = 0; i < plan_.n; ++i) to[i] += from[i];
        }
      }
    });
  }

  Plan plan_;
  bool uses_dnnl_ = false;
  std::int64_t outer_ = 1, folded_ = 1;
  std::int64_t tile_m_ = 1, tile_n_ = 1, tiles_m_ = 1, tiles_n_ = 1;
  std::int64_t bundle_ = 1;  // products that a part does one after the other
  std::int64_t chunks_ = 1;
  bool splits_folded_ = true;
};

}  // namespace

std::shared_ptr<const LibraryKernel> make_contraction(const Contraction& form) {
  if (form.dtype != DType::Float32 && form.dtype != DType::Float64) return nullptr;
  auto plan = best_plan(form);
  if (!plan || plan->products() < kTinyMatrix) return nullptr;
  const std::int64_t rows = std::min(plan->m, plan->n);
  // A vector times rows that lie along the sum: the lanes would sum one row after the other.
  const bool sums_rows = (plan->m == 1 && plan->b.is_transposed && plan->n >= kFewestRows) ||
                         (plan->n == 1 && !plan->a.is_transposed && plan->m >= kFewestRows);
  if (rows < kFewestRows && !sums_rows) return nullptr;
  static const bool once = (openblas_set_num_threads(1), true);
  (void)once;
  if (form.dtype == DType::Float32) return std::make_shared<Products<float>>(std::move(*plan));
  return std::make_shared<Products<double>>(std::move(*plan));
}

}  // namespace relay::kernels
