#include "kernels/product.h"

#include <algorithm>

namespace relay::kernels {

namespace {

// So many rows of a are in the second cache while panels follow one another.
constexpr std::int64_t kRowsAtOnce = 96;
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
std::int64_t Product<T>::padded(std::int64_t columns) const {
  return panels_of(columns, tiles_.lanes) * tiles_.lanes;
}

template <class T>
std::size_t Product<T>::scratch() const {
  if (method_ != Method::Packed) return 0;
  return static_cast<std::size_t>(std::min(k_, kProductsAtOnce) *
                                  padded(std::min(n_, kColumnsAtOnce)));
}

template <class T>
std::size_t Product<T>::packed() const {
  return method_ == Method::Packed ? static_cast<std::size_t>(k_ * padded(n_)) : 0;
}

// Products are outermost: in a part of the sum, panels follow one another.
template <class T>
void Product<T>::pack(const T* b, std::int64_t column0, std::int64_t column1, T* to) const {
  if (method_ != Method::Packed) return;
  for (std::int64_t k0 = 0; k0 < k_; k0 += kProductsAtOnce) {
    const std::int64_t k1 = std::min(k0 + kProductsAtOnce, k_);
    pack_block({0, 0, column0, column1, k0, k1}, b, to + k0 * padded(n_) + (k1 - k0) * column0);
  }
}

template <class T>
void Product<T>::pack_block(const ProductPart& block, const T* b, T* to) const {
  for (std::int64_t j = block.column0; j < block.column1; j += columns_apart()) {
    PackCall<T> call;
    call.b = b + block.k0 * b_.row + j * b_.column;
    call.step = b_.row;
    call.column = b_.column;
    call.k = block.k1 - block.k0;
    call.columns = std::min(columns_apart(), block.column1 - j);
    call.vectors = static_cast<int>(panels_of(call.columns, tiles_.lanes));
    call.panel = to;
    tiles_.pack(call);
    to += call.k * call.vectors * tiles_.lanes;
  }
}

template <class T>
typename Product<T>::Call Product<T>::of_block(Call call, const ProductPart& part,
                                               const ProductPart& block) {
  call.c += block.column0 - part.column0;
  call.adds = call.adds || block.k0 > part.k0;
  return call;
}

template <class T>
void Product<T>::multiply(const Call& call, const ProductPart& part, T* scratch) const {
  if (method_ != Method::Packed) {
    multiply_packed(call, part, nullptr);
    return;
  }
  for_each_block(part, [&](const ProductPart& block) {
    pack_block(block, call.b, scratch);
    multiply_block(of_block(call, part, block), block, scratch);
  });
}

template <class T>
void Product<T>::multiply_packed(const Call& call, const ProductPart& part, const T* packed) const {
  if (method_ == Method::Rows) {
    multiply_rows(call, part);
    return;
  }
  for_each_block(part, [&](const ProductPart& block) {
    const std::int64_t before = block.k0 * padded(n_) + (block.k1 - block.k0) * block.column0;
    multiply_block(of_block(call, part, block), block,
                   method_ == Method::Direct ? nullptr : packed + before);
  });
}

template <class T>
void Product<T>::multiply_block(const Call& call, const ProductPart& block, const T* panels) const {
  TileCall<T> tile;
  tile.k = block.k1 - block.k0;
  tile.a_row = a_.row;
  tile.a_step = a_.column;
  tile.c_row = call.c_row;
  tile.adds = call.adds;
  for (std::int64_t i = block.row0; i < block.row1; i += kRowsAtOnce) {
    const T* panel = panels;
    for (std::int64_t j = block.column0; j < block.column1; j += columns_apart()) {
      const std::int64_t columns = std::min(columns_apart(), block.column1 - j);
      const std::int64_t vectors = panels_of(columns, tiles_.lanes);
      tile.b = panels ? panel : call.b + block.k0 * b_.row + j;
      tile.b_step = panels ? vectors * tiles_.lanes : b_.row;
      tile.last = static_cast<int>(columns - (vectors - 1) * tiles_.lanes);
      tile.a = call.a + i * a_.row + block.k0 * a_.column;
      tile.c = call.c + (i - block.row0) * call.c_row + (j - block.column0);
      multiply_panel(tile, static_cast<int>(vectors), std::min(kRowsAtOnce, block.row1 - i));
      if (panels) panel += tile.k * vectors * tiles_.lanes;
    }
  }
}

template <class T>
void Product<T>::multiply_panel(TileCall<T> call, int vectors, std::int64_t rows) const {
  for (const Tile<T>& tile : tiles_.of[static_cast<std::size_t>(vectors - 1)]) {
    for (; rows >= tile.rows; rows -= tile.rows) {
      tile.run(call);
      call.a += tile.rows * call.a_row;
      call.c += tile.rows * call.c_row;
    }
  }
}

template <class T>
void Product<T>::multiply_rows(const Call& call, const ProductPart& part) const {
  DotCall<T> dot;
  dot.w = call.b + part.k0 + part.column0 * b_.column;
  dot.w_row = b_.column;
  dot.rows = part.column1 - part.column0;
  dot.k = part.k1 - part.k0;
  dot.y_step = 1;
  dot.adds = call.adds;
  for (std::int64_t i = part.row0; i < part.row1; ++i) {
    dot.x = call.a + i * a_.row + part.k0;
    dot.y = call.c + (i - part.row0) * call.c_row;
    tiles_.dot(dot);
  }
}

template class Product<float>;
template class Product<double>;

}  // namespace relay::kernels
