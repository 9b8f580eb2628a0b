#include <algorithm>
#include <bit>

#include "jit/kernel_codegen.h"
#include "loops/reduction_tree.h"

// The tile of a nest with a schedule (Kernel::tile_rank): its points are computed together. What is
// read of a reduction's elements for one serves those beside it, and the partial result of each
// stays in a register.
//
// There are sixteen partial results for each point (loops/loop_ir.h), more than there are
// registers. So the elements of a block are walked sixteen times, each time those of one partial
// result only, in the order in which the tree combines them: 0, 8, 4, 12, 2, ..., which is counting
// in bits read backwards. Then what is done waits at few levels, as whole blocks do.
namespace relay::jit {

using llvm::Value;
using loops::Code;
using loops::Instruction;
using loops::kReductionBlock;
using loops::kReductionLanes;
using loops::Region;

namespace {

// Points of a tile up to which the sixteen walks stand one after the other in the code.
constexpr std::size_t kMostUnrolled = 16;

constexpr int kLaneLevels = std::countr_zero(static_cast<unsigned>(kReductionLanes));

}  // namespace

int KernelCodegen::tile_width() {
  if (!kernel_.has_lanes) return 1;
  const std::int32_t axis = kernel_.domain_rank - 1;
  int width = domain_width(axis);
  while (kernel_.extents[axis].value % width != 0) width /= 2;
  return width;
}

// The points, row-major, those that are lanes of one vector as one.
void KernelCodegen::find_tile_points(int width) {
  const std::int32_t first = kernel_.domain_rank - kernel_.tile_rank;
  tile_points_.assign(1, {});
  for (std::int32_t axis = first; axis < kernel_.domain_rank; ++axis) {
    const std::int64_t step = axis + 1 == kernel_.domain_rank ? width : 1;
    std::vector<TilePoint> points;
    for (const TilePoint& outer : tile_points_) {
      for (std::int64_t index = 0; index < kernel_.extents[axis].value; index += step) {
        points.push_back(outer);
        points.back().indices.push_back(index);
      }
    }
    tile_points_ = std::move(points);
  }
}

// What is emitted next is about this point.
void KernelCodegen::enter(const TilePoint& point) {
  const std::int32_t first = kernel_.domain_rank - kernel_.tile_rank;
  for (std::size_t i = 0; i < point.indices.size(); ++i)
    axis_index_[first + static_cast<std::int32_t>(i)] = int64(point.indices[i]);
  if (!point.values.empty()) values_ = point.values;
}

void KernelCodegen::emit_tile() {
  const std::int32_t first = kernel_.domain_rank - kernel_.tile_rank;
  const Region& body = kernel_.regions[0];
  std::vector<const Instruction*> before;
  std::vector<const Instruction*> after;
  const Instruction* reduction = nullptr;
  for (const Instruction& instruction : body.code) {
    if (is_hoisted_[instruction.id] || level_of(body, instruction) < first) continue;
    if (instruction.code == Code::Reduce && reduction == nullptr) {
      reduction = &instruction;
    } else {
      (reduction != nullptr ? after : before).push_back(&instruction);
    }
  }
  const int width = tile_width();
  find_tile_points(width);
  if (width > 1) lanes_ = {kernel_.domain_rank - 1, width, nullptr};
  for (TilePoint& point : tile_points_) {
    enter(point);
    for (const Instruction* each : before) emit_instruction(*each);
    point.values = values_;
  }
  std::vector<Partial> results;
  if (reduction != nullptr) results = reduce_tile(*reduction);
  for (std::size_t i = 0; i < tile_points_.size(); ++i) {
    enter(tile_points_[i]);
    if (reduction != nullptr) {
      Value* const result = results[i].result();
      values_[reduction->id] =
          is_varying(reduction->id) ? LaneValue{nullptr, result} : LaneValue{result, nullptr};
    }
    for (const Instruction* each : after) emit_instruction(*each);
    emit_store();
  }
  lanes_ = {};
}

// The results by point.
std::vector<KernelCodegen::Partial> KernelCodegen::reduce_tile(const Instruction& instruction) {
  const Region& region = kernel_.regions[instruction.region];
  const bool is_vector = is_varying(instruction.id);
  Tiled tiled{region, is_vector, is_vector ? lanes_.width : 1, {}, {}, {}, {}};
  tiled.start = identity(region, tiled.width);
  for (TilePoint& point : tile_points_) {
    tiled.cells.push_back(make_cell(tiled.start));
    tiled.lanes.push_back(make_array(tiled.start, kLaneLevels + 1));
    if (has_blocks(region)) tiled.blocks.push_back(make_waiting(region, tiled.start));
    enter(point);
    emit_level(region, -1);
    point.values = values_;
  }
  Value* const count = extent(region.axes[0]);
  if (!has_blocks(region)) {
    tile_block(tiled, int64(0), count);
  } else {
    Value* const whole = b_.CreateAnd(count, int64(-kReductionBlock));
    loop(int64(0), whole, kReductionBlock, [&](Value* begin) {
      tile_block(tiled, begin, nullptr);
      tile_wait(tiled, tiled.blocks, block_of(begin));
    });
    for (const Partial& cell : tiled.cells) store_cell(cell, tiled.start);
    when(b_.CreateICmpSLT(whole, count), [&] { tile_block(tiled, whole, count); });
    Value* const blocks = block_of(count);
    counted_loop(b_, int64(0), waiting_levels(blocks), 1, [&](Value* level) {
      when(b_.CreateTrunc(b_.CreateLShr(blocks, level), b_.getInt1Ty()),
           [&] { tile_fold(tiled, tiled.blocks, level); });
    });
  }
  std::vector<Partial> results;
  for (const Partial& cell : tiled.cells) results.push_back(load_cell(cell, tiled.start));
  return results;
}

// Folds what waits at the level into the cells.
void KernelCodegen::tile_fold(const Tiled& tiled, const std::vector<PartialArray>& waiting,
                              Value* level) {
  for (std::size_t i = 0; i < tiled.cells.size(); ++i) {
    const Partial cell = load_cell(tiled.cells[i], tiled.start);
    store_cell(tiled.cells[i], fold(tiled.region, load_from(waiting[i], level), cell, tiled.width));
  }
}

// The cells, number `number` of their kind, join those that wait.
void KernelCodegen::tile_wait(const Tiled& tiled, const std::vector<PartialArray>& waiting,
                              Value* number) {
  Value* const level = waiting_level(number);
  counted_loop(b_, int64(0), level, 1, [&](Value* taken) { tile_fold(tiled, waiting, taken); });
  for (std::size_t i = 0; i < tiled.cells.size(); ++i)
    store_to(waiting[i], level, load_cell(tiled.cells[i], tiled.start));
}

// Leaves in the cells one of the sixteen partial results of elements [begin, end), of a whole block
// where `end` is null: then the compiler knows how many there are.
void KernelCodegen::tile_lane(const Tiled& tiled, Value* begin, Value* end, Value* lane) {
  const std::int32_t axis = tiled.region.axes[0];
  for (const Partial& cell : tiled.cells) store_cell(cell, tiled.start);
  Value* const first = b_.CreateAdd(begin, lane);
  const auto add = [&](Value* t) {
    for (std::size_t i = 0; i < tile_points_.size(); ++i) {
      enter(tile_points_[i]);
      axis_index_[axis] = t;
      emit_level(tiled.region, 0);
      const Partial old = load_cell(tiled.cells[i], tiled.start);
      store_cell(tiled.cells[i], fold_element(tiled.region, old, tiled.is_vector, t, tiled.width));
    }
  };
  // A stop is asked for between blocks, where there are some.
  const bool is_short = has_blocks(tiled.region) || most_elements(tiled.region) <= kReductionBlock;
  if (end == nullptr) {
    counted_loop(b_, int64(0), int64(kReductionBlock), kReductionLanes,
                 [&](Value* step) { add(b_.CreateAdd(first, step)); });
  } else if (is_short) {
    counted_loop(b_, first, end, kReductionLanes, add);
  } else {
    loop(first, end, kReductionLanes, add);
  }
}

// Leaves the results of elements [begin, end) in the cells, of a whole block where `end` is null.
void KernelCodegen::tile_block(const Tiled& tiled, Value* begin, Value* end) {
  const auto backwards = [](unsigned number) {
    unsigned lane = 0;
    for (int bit = 0; bit < kLaneLevels; ++bit)
      lane |= (number >> bit & 1U) << (kLaneLevels - 1 - bit);
    return lane;
  };
  if (tile_points_.size() <= kMostUnrolled) {
    for (unsigned number = 0; number < kReductionLanes; ++number) {
      tile_lane(tiled, begin, end, int64(backwards(number)));
      const int level = std::countr_one(number);
      for (int taken = 0; taken < level; ++taken) tile_fold(tiled, tiled.lanes, int64(taken));
      if (level == kLaneLevels) continue;
      for (std::size_t i = 0; i < tiled.cells.size(); ++i)
        store_to(tiled.lanes[i], int64(level), load_cell(tiled.cells[i], tiled.start));
    }
    return;
  }
  counted_loop(b_, int64(0), int64(kReductionLanes), 1, [&](Value* number) {
    Value* const lane = b_.CreateLShr(b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, number),
                                      int64(64 - kLaneLevels));
    tile_lane(tiled, begin, end, lane);
    tile_wait(tiled, tiled.lanes, number);
  });
  for (std::size_t i = 0; i < tiled.cells.size(); ++i)
    store_cell(tiled.cells[i], load_from(tiled.lanes[i], int64(kLaneLevels)));
}

}  // namespace relay::jit
