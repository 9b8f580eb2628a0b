#include <algorithm>

#include "jit/kernel_codegen.h"
#include "loops/reduction_tree.h"

// Blocks of reductions, and the tree over their results (loops/reduction_tree.h).
namespace relay::jit {

using llvm::Value;
using loops::kReductionBlock;
using loops::Region;

// How many elements the region has, where that is known; else a number that is out of reach.
std::int64_t KernelCodegen::most_elements(const Region& region) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t count = 1;
  for (const std::int32_t axis : region.axes) {
    const loops::Size& extent = kernel_.extents[axis];
    if (!extent.is_literal || extent.value > kMost / std::max<std::int64_t>(count, 1)) return kMost;
    count *= extent.value;
  }
  return count;
}

bool KernelCodegen::has_blocks(const Region& region) const {
  return loops::has_blocks(region.op, element_type(region)) &&
         most_elements(region) > kReductionBlock;
}

KernelCodegen::PartialArray KernelCodegen::make_waiting(const Region& region, const Partial& like) {
  return make_array(like, loops::waiting_levels(most_elements(region)));
}

// Puts the result of block number `block` among those that wait.
void KernelCodegen::wait(const Region& region, const PartialArray& waiting, Value* block,
                         const Partial& result, int width) {
  const Partial cell = make_cell(result);
  store_cell(cell, result);
  Value* const level = waiting_level(block);
  loop(int64(0), level, 1, [&](Value* taken) {
    store_cell(cell, fold(region, load_from(waiting, taken), load_cell(cell, result), width));
  });
  store_to(waiting, level, load_cell(cell, result));
}

// Folds `rest` into the results of the first `blocks` blocks.
KernelCodegen::Partial KernelCodegen::combine_waiting(const Region& region,
                                                      const PartialArray& waiting, Value* blocks,
                                                      const Partial& rest, int width) {
  const Partial cell = make_cell(rest);
  store_cell(cell, rest);
  loop(int64(0), waiting_levels(blocks), 1, [&](Value* level) {
    Value* const is_taken = b_.CreateTrunc(b_.CreateLShr(blocks, level), b_.getInt1Ty());
    when(is_taken, [&] {
      store_cell(cell, fold(region, load_from(waiting, level), load_cell(cell, rest), width));
    });
  });
  return load_cell(cell, rest);
}

}  // namespace relay::jit
