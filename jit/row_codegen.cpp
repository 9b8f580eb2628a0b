#include <algorithm>
#include <numeric>

#include "jit/kernel_codegen.h"

// Where a short axis is written out, that of a reduction or the last one of the domain, and the
// lanes are at a stride from each other, each load would be a gather, of a column, and each store a
// scatter. But what a lane reads and stores lies side by side: its row. So some columns at a time
// are loaded and stored as the pieces of rows that they are, and rows and columns change places in
// registers, bit by bit of their numbers: log2(c) steps of c shuffles for c columns.
namespace relay::jit {

using lang::DType;
using llvm::Value;
using loops::Instruction;

void KernelCodegen::begin_column(const RowPoint& at) {
  row_ = at;
  if (row_.axis < 0 || row_.index == 0) columns_.clear();
}

// Does each lane go along a row of its own?
bool KernelCodegen::is_in_row(const loops::Address& address, DType dtype) {
  if (row_.axis < 0 || row_.extent < 2 || lanes_.width < 4 || lang::size_of(dtype) < 4)
    return false;
  const auto along_lanes = analysis_.step(address, lanes_.axis);
  if (along_lanes && std::abs(*along_lanes) <= 1) return false;
  return analysis_.step(address, row_.axis) == 1;
}

// Then the first of some columns loads them all.
bool KernelCodegen::reads_row(const Instruction& load) {
  return load.args.empty() && lanes_.are_first() && is_in_row(load.address, load.dtype);
}

// Of the column at hand, by lane; null where the lanes are not at one stride from each other.
Value* KernelCodegen::load_in_row(const Instruction& load) {
  Columns& known = columns_[load.id];
  const auto is_known = [&] {
    return row_.index >= known.first &&
           row_.index < known.first + static_cast<std::int64_t>(known.values.size());
  };
  if (!is_known()) {
    const Place from = place(load.address, load.buffer);
    if (from.stride == nullptr) return nullptr;
    const int count = columns_at_once(row_.extent - row_.index, load.dtype);
    if (count == 1) return nullptr;
    known = {row_.index, load_columns(from, load.dtype, count, stays(load))};
  }
  return known.values[static_cast<std::size_t>(row_.index - known.first)];
}

std::vector<Value*> KernelCodegen::load_columns(const Place& from, DType dtype, int count,
                                                bool stays) {
  auto* const piece = llvm::FixedVectorType::get(memory_type(dtype), static_cast<unsigned>(count));
  // Vector l: rows l, l + count, l + 2 count, …, one behind the other.
  std::vector<Value*> vectors;
  for (int first = 0; first < count; ++first) {
    std::vector<Value*> rows;
    for (int lane = first; lane < lanes_.width; lane += count)
      rows.push_back(load_of_memory(piece, at_stride(from, dtype, lane), dtype, stays));
    vectors.push_back(rows.size() == 1 ? rows[0] : llvm::concatenateVectors(b_, rows));
  }
  exchange(vectors);
  for (Value*& each : vectors) each = scalars(lanes_.width).from_memory(each, dtype);
  return vectors;
}

// Of vectors whose number is a power of two, c: lane j c + k of vector l becomes lane j c + l of
// vector k.
void KernelCodegen::exchange(std::vector<Value*>& vectors) {
  const auto count = static_cast<int>(vectors.size());
  std::vector<int> low(static_cast<std::size_t>(lanes_.width));
  std::vector<int> high(low.size());
  for (int bit = 1; bit < count; bit *= 2) {
    for (int lane = 0; lane < lanes_.width; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      low[at] = (lane & bit) != 0 ? lanes_.width + lane - bit : lane;
      high[at] = (lane & bit) != 0 ? lanes_.width + lane : lane + bit;
    }
    for (int i = 0; i < count; ++i) {
      if ((i & bit) != 0) continue;
      Value*& a = vectors[static_cast<std::size_t>(i)];
      Value*& b = vectors[static_cast<std::size_t>(i) + static_cast<std::size_t>(bit)];
      Value* const first = b_.CreateShuffleVector(a, b, low);
      b = b_.CreateShuffleVector(a, b, high);
      a = first;
    }
  }
}

// How many of so many columns are loaded or stored together: a power of two.
int KernelCodegen::columns_at_once(std::int64_t left, DType dtype) const {
  const std::int64_t most = std::min<std::int64_t>(
      lanes_.width, host_.vector_bytes / static_cast<int>(lang::size_of(dtype)));
  int count = 1;
  while (2 * count <= std::min(most, left)) count *= 2;
  return count;
}

// The columns of all lanes, from the first one's place on.
void KernelCodegen::store_columns(const Place& to, DType dtype,
                                  const std::vector<Value*>& columns) {
  const llvm::Align align(lang::size_of(dtype));
  for (std::size_t first = 0; first < columns.size();) {
    const int count = columns_at_once(static_cast<std::int64_t>(columns.size() - first), dtype);
    std::vector<Value*> vectors;
    for (int i = 0; i < count; ++i) vectors.push_back(columns[first + static_cast<std::size_t>(i)]);
    exchange(vectors);
    for (int lane = 0; lane < lanes_.width; ++lane) {
      std::vector<int> piece(static_cast<std::size_t>(count));
      std::iota(piece.begin(), piece.end(), lane / count * count);
      Value* const row =
          b_.CreateShuffleVector(vectors[static_cast<std::size_t>(lane % count)], piece);
      Value* const at = b_.CreateGEP(memory_type(dtype), at_stride(to, dtype, lane),
                                     int64(static_cast<std::int64_t>(first)));
      b_.CreateAlignedStore(row, at, align);
    }
    first += static_cast<std::size_t>(count);
  }
}

}  // namespace relay::jit
