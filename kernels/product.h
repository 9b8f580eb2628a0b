#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tiles.h"

namespace relay::kernels {

// How far apart the rows and the columns of a matrix lie, in elements.
struct MatrixStrides {
  std::int64_t row = 0, column = 0;
};

// c = a b, or c += a b, of matrices with m by k, k by n and m by n elements: the columns of c lie
// side by side, all else anyhow. b is packed into panels, a part of the sum at a time; a is read
// where it is. The bits of an element of c depend on m, n, k and the strides only, and not on how
// many rows are computed at once. Source of the scheme: Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication" (2008).
template <class T>
class Product {
 public:
  Product(const Tiles<T>& tiles, std::int64_t m, std::int64_t n, std::int64_t k, MatrixStrides a,
          MatrixStrides b);

  // Elements that `multiply` works in.
  std::size_t scratch() const;
  // Rows [begin, end); all pointers are to the first element of the whole matrix. On this thread.
  void multiply(const T* a, const T* b, T* c, std::int64_t c_row, bool adds, std::int64_t begin,
                std::int64_t end, T* scratch) const;

  // b as panels, for many calls. Nothing is packed where that is 0 elements.
  std::size_t packed() const;
  void pack(const T* b, T* to) const;
  // As multiply, with what `pack` has made of b.
  void multiply_packed(const T* a, const T* b, const T* packed, T* c, std::int64_t c_row, bool adds,
                       std::int64_t begin, std::int64_t end) const;

 private:
  enum class Method : std::uint8_t {
    Rows,    // b's columns lie along the sum, and there are few rows: a sum of products for each
             // element
    Direct,  // b is read where it is
    Packed,
  };
  // Some columns of a part of the sum.
  struct Block {
    std::int64_t k0, k1, j0, j1;
  };

  Method choose() const;
  std::int64_t panel_width() const { return panel_vectors_ * tiles_.lanes; }
  std::size_t packed_size(const Block& block) const;
  template <class Visit>
  void for_each_block(Visit visit) const;
  void pack_block(const Block& block, const T* b, T* to) const;
  void multiply_block(const Block& block, const T* a, const T* panels, T* c, std::int64_t c_row,
                      bool adds, std::int64_t begin, std::int64_t end) const;
  void multiply_panel(TileCall<T> call, int vectors, std::int64_t begin, std::int64_t end) const;
  void multiply_rows(const T* a, const T* b, T* c, std::int64_t c_row, bool adds,
                     std::int64_t begin, std::int64_t end) const;

  const Tiles<T>& tiles_;
  std::int64_t m_, n_, k_;
  MatrixStrides a_, b_;
  Method method_;
  std::int64_t panel_vectors_;
};

extern template class Product<float>;
extern template class Product<double>;

}  // namespace relay::kernels
