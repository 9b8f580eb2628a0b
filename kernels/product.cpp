#include "kernels/product.h"

#include <algorithm>

namespace relay::kernels {

namespace {

// A panel of so many products stays in the first cache while tiles go down the rows, and so many
// rows of a in the second while panels follow one another.
constexpr std::int64_t kProductsAtOnce = 256;
constexpr std::int64_t kRowsAtOnce = 96;
// Columns that are packed at a time, where b is not packed beforehand.
constexpr std::int64_t kColumnsAtOnce = 512;
// Where fewer rows use it, packing costs more than reading b from where it lies.
constexpr std::int64_t kFewRows = 3;
constexpr std::int64_t kTilesWorthPacking = 3;

std::int64_t panels_of(std::int64_t extent, std::int64_t each) {
  return (extent + each - 1) / each;
}

}  // namespace

template <class T>
Product<T>::Product(const Tiles<T>& tiles, std::int64_t m, std::int64_t n, std::int64_t k,
                    MatrixStrides a, MatrixStrides b)
    : tiles_(tiles), m_(m), n_(n), k_(k), a_(a), b_(b) {
  // Panels of the same width, as nearly as can be.
  const std::int64_t most = m == 1 ? kMostVectors : tiles.vectors;
  const std::int64_t vectors = std::max<std::int64_t>(panels_of(n, tiles.lanes), 1);
  panel_vectors_ = panels_of(vectors, panels_of(vectors, most));
  method_ = choose();
}

template <class T>
typename Product<T>::Method Product<T>::choose() const {
  if (b_.row == 1 && b_.column != 1 && a_.column == 1 && m_ <= kFewRows) return Method::Rows;
  const Tile<T>& largest = tiles_.of[static_cast<std::size_t>(panel_vectors_ - 1)].front();
  const bool is_even = n_ % tiles_.lanes == 0;
  if (b_.column == 1 && is_even && m_ <= kTilesWorthPacking * largest.rows) return Method::Direct;
  return Method::Packed;
}

template <class T>
std::size_t Product<T>::packed_size(const Block& block) const {
  const std::int64_t vectors = panels_of(block.j1 - block.j0, tiles_.lanes);
  return static_cast<std::size_t>((block.k1 - block.k0) * vectors * tiles_.lanes);
}

// Columns are in the outer loop, so that a block of c is still in cache when the next part of the
// sum comes.
template <class T>
template <class Visit>
void Product<T>::for_each_block(Visit visit) const {
  const std::int64_t columns = kColumnsAtOnce / panel_width() * panel_width();
  for (std::int64_t j = 0; j < n_; j += columns) {
    for (std::int64_t k = 0; k < k_; k += kProductsAtOnce)
      visit(Block{k, std::min(k + kProductsAtOnce, k_), j, std::min(j + columns, n_)});
  }
}

template <class T>
std::size_t Product<T>::scratch() const {
  if (method_ != Method::Packed) return 0;
  const std::int64_t columns = panels_of(std::min(n_, kColumnsAtOnce), tiles_.lanes) * tiles_.lanes;
  return static_cast<std::size_t>(std::min(k_, kProductsAtOnce) * columns);
}

template <class T>
std::size_t Product<T>::packed() const {
  if (method_ != Method::Packed) return 0;
  return packed_size({0, k_, 0, n_});
}

template <class T>
void Product<T>::pack(const T* b, T* to) const {
  if (method_ != Method::Packed) return;
  for_each_block([&](const Block& block) {
    pack_block(block, b, to);
    to += packed_size(block);
  });
}

template <class T>
void Product<T>::pack_block(const Block& block, const T* b, T* to) const {
  for (std::int64_t j = block.j0; j < block.j1; j += panel_width()) {
    PackCall<T> call;
    call.b = b + block.k0 * b_.row + j * b_.column;
    call.step = b_.row;
    call.column = b_.column;
    call.k = block.k1 - block.k0;
    call.columns = std::min(panel_width(), block.j1 - j);
    call.vectors = static_cast<int>(panels_of(call.columns, tiles_.lanes));
    call.panel = to;
    tiles_.pack(call);
    to += call.k * call.vectors * tiles_.lanes;
  }
}

template <class T>
void Product<T>::multiply(const T* a, const T* b, T* c, std::int64_t c_row, bool adds,
                          std::int64_t begin, std::int64_t end, T* scratch) const {
  if (method_ != Method::Packed) {
    multiply_packed(a, b, nullptr, c, c_row, adds, begin, end);
    return;
  }
  for_each_block([&](const Block& block) {
    pack_block(block, b, scratch);
    multiply_block(block, a, scratch, c, c_row, adds || block.k0 > 0, begin, end);
  });
}

template <class T>
void Product<T>::multiply_packed(const T* a, const T* b, const T* packed, T* c, std::int64_t c_row,
                                 bool adds, std::int64_t begin, std::int64_t end) const {
  if (method_ == Method::Rows) {
    multiply_rows(a, b, c, c_row, adds, begin, end);
    return;
  }
  for_each_block([&](const Block& block) {
    const bool is_direct = method_ == Method::Direct;
    multiply_block(block, a, is_direct ? b : packed, c, c_row, adds || block.k0 > 0, begin, end);
    if (!is_direct) packed += packed_size(block);
  });
}

// `panels`: the block as it is packed, or, where b is read directly, all of b.
template <class T>
void Product<T>::multiply_block(const Block& block, const T* a, const T* panels, T* c,
                                std::int64_t c_row, bool adds, std::int64_t begin,
                                std::int64_t end) const {
  const bool is_direct = method_ == Method::Direct;
  TileCall<T> call;
  call.k = block.k1 - block.k0;
  call.a = a + block.k0 * a_.column;
  call.a_row = a_.row;
  call.a_step = a_.column;
  call.c_row = c_row;
  call.adds = adds;
  for (std::int64_t i = begin; i < end; i += kRowsAtOnce) {
    const T* panel = panels;
    for (std::int64_t j = block.j0; j < block.j1; j += panel_width()) {
      const std::int64_t columns = std::min(panel_width(), block.j1 - j);
      const std::int64_t vectors = panels_of(columns, tiles_.lanes);
      call.b = is_direct ? panels + block.k0 * b_.row + j : panel;
      call.b_step = is_direct ? b_.row : vectors * tiles_.lanes;
      call.last = static_cast<int>(columns - (vectors - 1) * tiles_.lanes);
      call.c = c + j;
      multiply_panel(call, static_cast<int>(vectors), i, std::min(i + kRowsAtOnce, end));
      panel += call.k * vectors * tiles_.lanes;
    }
  }
}

template <class T>
void Product<T>::multiply_panel(TileCall<T> call, int vectors, std::int64_t begin,
                                std::int64_t end) const {
  call.a += begin * call.a_row;
  call.c += begin * call.c_row;
  std::int64_t rows = end - begin;
  for (const Tile<T>& tile : tiles_.of[static_cast<std::size_t>(vectors - 1)]) {
    for (; rows >= tile.rows; rows -= tile.rows) {
      tile.run(call);
      call.a += tile.rows * call.a_row;
      call.c += tile.rows * call.c_row;
    }
  }
}

template <class T>
void Product<T>::multiply_rows(const T* a, const T* b, T* c, std::int64_t c_row, bool adds,
                               std::int64_t begin, std::int64_t end) const {
  for (std::int64_t i = begin; i < end; ++i)
    tiles_.dot({b, b_.column, n_, a + i * a_.row, k_, c + i * c_row, 1, adds});
}

template class Product<float>;
template class Product<double>;

}  // namespace relay::kernels
