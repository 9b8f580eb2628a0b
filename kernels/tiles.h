#pragma once

#include <array>
#include <cstdint>
#include <span>

// The innermost code of products, compiled for several generations of CPU: what is done for a few
// rows and a few vectors of columns at a time. Each element is the sum of its products in order,
// each added by a fused multiply-add where the CPU has one, so its bits do not depend on the tile
// that it lies in, nor on the length of a vector. All strides are in elements.
namespace relay::kernels {

// Rows of c by one panel: c += a * b, or c = a * b.
template <class T>
struct TileCall {
  std::int64_t k = 0;
  const T* a = nullptr;
  std::int64_t a_row = 0, a_step = 0;  // to the next row, to the next product
  const T* b = nullptr;                // the panel: all its vectors of a product side by side
  std::int64_t b_step = 0;
  T* c = nullptr;
  std::int64_t c_row = 0;
  int last = 0;  // columns in the panel's last vector
  bool adds = false;
};

template <class T>
struct Tile {
  int rows = 0;
  void (*run)(const TileCall<T>& call) = nullptr;
};

// k products of `columns` columns of b, side by side.
template <class T>
struct PackCall {
  const T* b = nullptr;
  std::int64_t step = 0, column = 0;  // to the next product, to the next column
  std::int64_t k = 0, columns = 0;
  int vectors = 0;  // of the panel
  T* panel = nullptr;
};

// Columns of a panel that lie side by side in memory, from `source + step + from` on for each
// product.
struct PackedRun {
  std::int64_t from = 0;
  int column = 0;  // of the panel
  int length = 0;
};

// As PackCall, of columns in runs. Reads up to a vector behind what belongs to a run.
template <class T>
struct GatherCall {
  const T* source = nullptr;
  std::span<const std::int64_t> steps;  // by product
  std::span<const PackedRun> runs;
  std::int64_t width = 0;  // of the panel, in columns
  T* panel = nullptr;
};

// The transforms of Winograd's F(2 x 2, 3 x 3), for `count` tiles side by side: of 4 by 4 elements
// of the input, every second of which begins a tile, into 16 planes; and of 16 planes into 2 by 2
// elements of the result. Reads and writes up to two vectors more. Source: Lavin and Gray, "Fast
// algorithms for convolutional neural networks" (2016).
template <class T>
struct WinogradCall {
  const T* from = nullptr;
  T* to = nullptr;
  std::int64_t count = 0;
  std::int64_t plane = 0;  // from plane to plane
  std::int64_t row = 0;    // from row to row of the input, or the result
};

// y[i * y_step] = sum of row i of w times x, or that is added.
template <class T>
struct DotCall {
  const T* w = nullptr;
  std::int64_t w_row = 0, rows = 0;
  const T* x = nullptr;
  std::int64_t k = 0;
  T* y = nullptr;
  std::int64_t y_step = 0;
  bool adds = false;
};

inline constexpr int kMostVectors = 8;

template <class T>
struct Tiles {
  int lanes = 0;    // columns in a vector
  int vectors = 0;  // of a panel at most, where there are several rows
  // For panels of one vector and more: the tiles, those of most rows first, down to one row.
  std::array<std::span<const Tile<T>>, kMostVectors> of;
  // Columns that the panel has beyond `columns` become zeros.
  void (*pack)(const PackCall<T>& call) = nullptr;
  void (*gather)(const GatherCall<T>& call) = nullptr;
  void (*winograd_input)(const WinogradCall<T>& call) = nullptr;
  void (*winograd_result)(const WinogradCall<T>& call) = nullptr;
  // In 16 partial sums, which are added pairwise, whatever the CPU.
  void (*dot)(const DotCall<T>& call) = nullptr;
};

enum class Level : std::uint8_t { Base, Avx2, Avx512 };
Level cpu_level();

// Levels that the compiler has no code for give the one before.
template <class T>
const Tiles<T>& tiles(Level level);
template <>
const Tiles<float>& tiles<float>(Level level);
template <>
const Tiles<double>& tiles<double>(Level level);

}  // namespace relay::kernels
