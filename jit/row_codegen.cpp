#include <algorithm>

#include "jit/kernel_codegen.h"

// Where a short reduction is written out and the lanes are at a stride from each other, each of its
// loads would be a gather, of a column. But what a lane reads lies side by side: its row. So some
// columns at a time are loaded as the pieces of rows that they are, and rows and columns change
// places in registers, bit by bit of their numbers: log2(c) steps of c shuffles for c columns.
namespace relay::jit {

using lang::DType;
using llvm::Value;
using loops::Instruction;

// Does it read its row, column by column? Then the first of some columns loads them all.
bool KernelCodegen::reads_row(const Instruction& load) {
  if (row_.axis < 0 || lanes_.width < 4 || lang::size_of(load.dtype) < 4 || !load.args.empty())
    return false;
  if (lanes_.mask != nullptr && lanes_.count == nullptr) return false;
  const auto along_lanes = analysis_.step(load.address, lanes_.axis);
  if (along_lanes && std::abs(*along_lanes) <= 1) return false;
  return analysis_.step(load.address, row_.axis) == 1;
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
    const auto most = std::min<std::int64_t>(
        lanes_.width, host_.vector_bytes / static_cast<int>(lang::size_of(load.dtype)));
    std::int64_t count = 1;
    while (2 * count <= std::min(most, row_.extent - row_.index)) count *= 2;
    if (count == 1) return nullptr;
    known = {row_.index, load_columns(from, load.dtype, static_cast<int>(count), stays(load))};
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
      Value*& b = vectors[static_cast<std::size_t>(i + bit)];
      Value* const first = b_.CreateShuffleVector(a, b, low);
      b = b_.CreateShuffleVector(a, b, high);
      a = first;
    }
  }
  for (Value*& each : vectors) each = scalars(lanes_.width).from_memory(each, dtype);
  return vectors;
}

}  // namespace relay::jit
