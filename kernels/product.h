#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/tiles.h"

namespace relay::kernels {

// How far apart the rows and the columns of a matrix lie, in elements.
struct MatrixStrides {
  std::int64_t row = 0, column = 0;
};

// Rows and columns of c, and products of each of its elements: [begin, end) of each.
struct ProductPart {
  std::int64_t row0, row1;
  std::int64_t column0, column1;  // from a multiple of Product::columns_apart() on
  std::int64_t k0, k1;
};

// A panel of so many products stays in the first cache while tiles go down the rows.
inline constexpr std::int64_t kProductsAtOnce = 256;
// Columns whose panels are in cache together.
inline constexpr std::int64_t kColumnsAtOnce = 512;

// c = a b, or c += a b, of matrices with m by k, k by n and m by n elements: the columns of c lie
// side by side, all else anyhow. b is packed into panels, a part of the sum at a time; a is read
// where it is. The bits of an element of c depend on m, k, the strides and the products that are
// asked for, and not on which rows and columns are computed at once. Source of the scheme: Goto and
// van de Geijn, "Anatomy of high-performance matrix multiplication" (2008).
template <class T>
class Product {
 public:
  Product(const Tiles<T>& tiles, std::int64_t m, std::int64_t n, std::int64_t k, MatrixStrides a,
          MatrixStrides b);

  // Parts begin at multiples of so many columns.
  std::int64_t columns_apart() const { return panel_vectors_ * tiles_.lanes; }

  // a and b are the whole matrices, c the first element of the part. `scratch`: as many elements as
  // scratch() says. On this thread.
  struct Call {
    const T* a;
    const T* b;
    T* c;
    std::int64_t c_row;
    bool adds;
  };
  void multiply(const Call& call, const ProductPart& part, T* scratch) const;
  std::size_t scratch() const;

  // For matrices whose columns are packed by who knows where they are: calls visit(block) for some
  // columns and products of the part after the other, and `panels` are the block's columns, panel
  // by panel.
  template <class Visit>
  void for_each_block(const ProductPart& part, Visit visit) const;
  void multiply_panels(const Call& call, const ProductPart& part, const ProductPart& block,
                       const T* panels) const {
    multiply_block(of_block(call, part, block), block, panels);
  }
  int vectors_of(std::int64_t columns) const {
    return static_cast<int>((columns + tiles_.lanes - 1) / tiles_.lanes);
  }
  const Tiles<T>& tiles() const { return tiles_; }

  // All of b as panels, for many calls: so many elements, or 0 where b is read as it is. Some
  // columns are packed at a time, from a multiple of columns_apart() on.
  std::size_t packed() const;
  void pack(const T* b, std::int64_t column0, std::int64_t column1, T* to) const;
  // As multiply, with what `pack` has made of b; the part has all products.
  void multiply_packed(const Call& call, const ProductPart& part, const T* packed) const;

 private:
  enum class Method : std::uint8_t {
    Rows,    // b's columns lie along the sum, and there are few rows: each element is summed alone
    Direct,  // b is read where it is
    Packed,
  };

  Method choose() const;
  std::int64_t padded(std::int64_t columns) const;
  void pack_block(const ProductPart& block, const T* b, T* to) const;
  // `panels`: the block's columns as they are packed; null: b is read where it is.
  void multiply_block(const Call& call, const ProductPart& block, const T* panels) const;
  static Call of_block(Call call, const ProductPart& part, const ProductPart& block);
  void multiply_panel(TileCall<T> call, int vectors, std::int64_t rows) const;
  void multiply_rows(const Call& call, const ProductPart& part) const;

  const Tiles<T>& tiles_;
  std::int64_t m_, n_, k_;
  MatrixStrides a_, b_;
  Method method_;
  std::int64_t panel_vectors_;
};

// Columns are in the outer loop, so that a block of c is still in cache when the next part of the
// sum comes.
template <class T>
template <class Visit>
void Product<T>::for_each_block(const ProductPart& part, Visit visit) const {
  const std::int64_t columns = kColumnsAtOnce / columns_apart() * columns_apart();
  ProductPart block = part;
  for (block.column0 = part.column0; block.column0 < part.column1; block.column0 += columns) {
    block.column1 = std::min(block.column0 + columns, part.column1);
    for (block.k0 = part.k0; block.k0 < part.k1; block.k0 += kProductsAtOnce) {
      block.k1 = std::min(block.k0 + kProductsAtOnce, part.k1);
      visit(block);
    }
  }
}

extern template class Product<float>;
extern template class Product<double>;

}  // namespace relay::kernels
