#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/analysis.h"
#include "jit/counted_loop.h"
#include "jit/host.h"
#include "jit/llvm.h"
#include "jit/scalar_codegen.h"
#include "loops/loop_ir.h"
#include "loops/reduction_tree.h"

namespace relay::jit {

// Emits one kernel as a function of type loops::KernelFunction.
//
// At most one axis at a time is spread over vector lanes. A value that changes along it is a
// vector, all others are scalars, so that one walk over the loop IR serves scalar and vector code.
// Instructions are emitted in the outermost loop of their region in which their operands are known;
// a region's loops are entered only when none of its axes is empty, so that nothing is loaded that
// the source would not load.
//
// Vector code does not report errors: when a check fails in some lane it jumps to scalar code for
// the same points, which finds the error that comes first in row-major order.
//
// The methods are spread over loop_codegen.cpp (the domain and the instructions),
// memory_codegen.cpp (addresses, loads, stores), mask_codegen.cpp (checks, and loads that are
// masked), segment_codegen.cpp (parts of rows), update_codegen.cpp (points that stay what they
// are), reduce_codegen.cpp, busy_codegen.cpp (parts of sums that are not 0), block_codegen.cpp and
// tile_codegen.cpp.
class KernelCodegen {
 public:
  // Is the function called from outside, or may LLVM put it into others of the module? There what
  // one kernel reads another has stored.
  enum class Company : std::uint8_t { Alone, AmongOthers };
  KernelCodegen(const loops::Kernel& kernel, Analysis& analysis, const HostTraits& host,
                llvm::Module& module, Company company);

  // The function, without any optimisation done.
  llvm::Function* emit(const std::string& name);

 private:
  // An emitted value: `scalar` if it is the same in all lanes, or (int64 of constant step only) its
  // value in lane 0; else `vector`.
  struct LaneValue {
    llvm::Value* scalar = nullptr;
    llvm::Value* vector = nullptr;
  };
  // The axis that is spread over lanes: lane j is at the axis' current index + j.
  struct Lanes {
    std::int32_t axis = -1;  // -1: scalar code
    int width = 1;
    llvm::Value* mask = nullptr;   // which lanes count; null: all
    llvm::Value* count = nullptr;  // the mask is that of so many lanes, the first ones
    bool are_first() const { return mask == nullptr || count != nullptr; }
  };
  // A partial result of a reduction. `index` is there for ArgMax and ArgMin only.
  struct Partial {
    llvm::Value* value = nullptr;
    llvm::Value* index = nullptr;
    llvm::Value* result() const { return index != nullptr ? index : value; }
  };
  // Partial results in memory.
  struct PartialArray {
    Partial element;  // of which types
    llvm::Value* values = nullptr;
    llvm::Value* indices = nullptr;
  };

  // loop_codegen.cpp
  void emit_entry();
  void hoist_invariants(const loops::Region& region);
  bool is_hoistable(const loops::Instruction& instruction) const;
  void emit_axis(std::int32_t axis);
  void emit_exact();
  void begin_point(std::int32_t axis, llvm::Value* index);
  llvm::Value* first_index(std::int32_t axis);
  // Rows [begin, end) of the domain axis around a lane axis that is walked in tiles with it.
  struct Tile {
    llvm::Value* begin = nullptr;
    llvm::Value* end = nullptr;
  };
  void emit_tiles(std::int32_t axis, llvm::Value* begin, llvm::Value* end);
  void emit_lane_axis(std::int32_t axis, llvm::Value* begin, llvm::Value* end, const Tile& tile);
  void emit_lanes(std::int32_t axis, llvm::Value* begin, llvm::Value* end, const Tile& tile);
  void emit_points(std::int32_t axis, llvm::Value* index, const Tile& tile);
  void emit_level(const loops::Region& region, int level);
  int level_of(const loops::Region& region, const loops::Instruction& instruction) const;
  void emit_instruction(const loops::Instruction& instruction);
  llvm::Value* chosen(loops::ValueId condition, llvm::Value* a, llvm::Value* b);
  LaneValue emit_primitive(const loops::Instruction& instruction);
  int domain_width(std::int32_t axis);
  bool is_light(std::int32_t region) const;

  // Leaves the code if `failed` holds in a lane that counts: to the exact form, or from that by
  // returning 1 with the error filled in. `failed` is a scalar or a vector.
  void leave_if(llvm::Value* failed, std::int32_t site, llvm::Value* index, llvm::Value* extent);

  // memory_codegen.cpp
  struct Place {
    llvm::Value* pointer = nullptr;  // of lane 0
    std::int64_t step = 0;           // elements from lane to lane, where `offsets` is null
    llvm::Value* offsets = nullptr;  // elements from `pointer`, by lane
    llvm::Value* stride = nullptr;   // elements from lane to lane, if that is one number
  };
  Place place(const loops::Address& address, std::int32_t buffer);
  LaneValue emit_load(const loops::Instruction& instruction);
  bool stays(const loops::Instruction& load) const;
  llvm::LoadInst* load_of_memory(llvm::Type* type, llvm::Value* from, lang::DType dtype,
                                 bool stays);
  llvm::Value* at_stride(const Place& place, lang::DType dtype, int lane);
  llvm::Value* load_lanes(const Place& place, lang::DType dtype, bool stays = false);
  void store_lanes(const Place& place, lang::DType dtype, llvm::Value* value);
  void store_first(llvm::Value* to, llvm::Value* value, llvm::Value* count);
  bool reads_rows_as_stored(lang::DType dtype);
  void emit_store();
  void store_at(const loops::Address& address, std::int32_t output, llvm::Value* value);
  void combine_by_lane(const Place& place, lang::DType dtype, llvm::Value* value);
  llvm::Type* memory_type(lang::DType dtype);
  llvm::Value* pointers(const Place& place, lang::DType dtype);
  llvm::Value* all_lanes();

  // row_codegen.cpp
  struct RowPoint {
    std::int32_t axis = -1;
    std::int64_t index = 0;
    std::int64_t extent = 0;
  };
  void begin_column(const RowPoint& at);
  bool is_in_row(const loops::Address& address, lang::DType dtype);
  bool reads_row(const loops::Instruction& load);
  llvm::Value* load_in_row(const loops::Instruction& load);
  std::vector<llvm::Value*> load_columns(const Place& from, lang::DType dtype, int count,
                                         bool stays);
  void store_columns(const Place& to, lang::DType dtype, const std::vector<llvm::Value*>& columns);
  void exchange(std::vector<llvm::Value*>& vectors);
  int columns_at_once(std::int64_t left, lang::DType dtype) const;

  // mask_codegen.cpp
  LaneValue emit_range(const loops::Instruction& instruction);
  LaneValue emit_check(const loops::Instruction& instruction);
  LaneValue emit_masked_load(const loops::Instruction& instruction);
  llvm::Value* is_in_range(loops::ValueId index, const loops::Size& size, bool as_vector);
  llvm::Value* ends_in_range(loops::ValueId index, const loops::Size& size);
  llvm::Value* holds_in_all_lanes(loops::ValueId mask);
  llvm::Value* fails_in_all_lanes(loops::ValueId mask);
  llvm::Value* both(llvm::Value* a, llvm::Value* b);
  llvm::Value* zero_place();

  // update_codegen.cpp
  void emit_changes(std::int32_t axis, const std::function<void()>& emit);
  std::int32_t updated_buffer() const;
  llvm::Value* are_same(const loops::Address& a, const loops::Address& b);
  bool is_known_before(loops::ValueId id, std::int32_t axis) const;
  llvm::Value* condition_that(loops::ValueId id, bool wanted, std::int32_t axis);
  llvm::Value* condition_of_same(loops::ValueId id, std::int32_t buffer, std::int32_t axis);
  llvm::Value* condition_of_safety(std::int32_t axis);
  llvm::Value* both_known(llvm::Value* a, llvm::Value* b);
  llvm::Value* either_known(llvm::Value* a, llvm::Value* b);

  // segment_codegen.cpp
  void emit_expected(std::int32_t axis, llvm::Value* begin, llvm::Value* end);
  bool is_expected(loops::ValueId id);
  void emit_segments(std::int32_t axis, llvm::Value* begin, llvm::Value* end);
  void find_turns(std::int32_t axis);
  bool has_turns(const loops::Instruction& instruction, std::int32_t axis);
  bool is_in_steps(loops::ValueId id, std::int32_t axis);
  llvm::Value* run_length(const loops::Instruction& instruction, std::int32_t axis);
  llvm::Value* until_sign(llvm::Value* value, std::int64_t step);
  llvm::Value* until_zero(llvm::Value* value, std::int64_t step);
  llvm::Value* is_small(llvm::Value* value);

  // reduce_codegen.cpp
  LaneValue emit_reduce(const loops::Instruction& instruction);
  Partial reduce_uniform(const loops::Region& region);
  Partial reduce_each_lane(const loops::Region& region, bool is_vector);
  Partial reduce_unrolled(const loops::Region& region, std::int64_t count, bool is_vector);
  Partial reduce_in_registers(const loops::Region& region, bool is_vector);
  Partial reduce_in_memory(const loops::Region& region, bool is_vector);
  Partial reduce_across_lanes(const loops::Region& region);
  Partial across_one_axis(const loops::Region& region);
  bool folds_quickly(const loops::Region& region) const;
  bool loads_under_masks(const loops::Region& region);
  void quick_rounds(const loops::Region& region, llvm::Value* begin, llvm::Value* end,
                    const Partial& cell);
  Partial across_round(const loops::Region& region, llvm::Value* first, const Partial& sum);
  Partial across_masked(const loops::Region& region, llvm::Value* first, llvm::Value* end,
                        const Partial& old);
  Partial across_in_scalars(const loops::Region& region, llvm::Value* row, llvm::Value* begin,
                            llvm::Value* end, const Partial& old);
  Partial selected(llvm::Value* mask, const Partial& a, const Partial& b);
  Partial across_axes(const loops::Region& region);
  template <class Body>
  void reduction_nest(const loops::Region& region, std::size_t depth, std::size_t end, Body body);
  template <class Body>
  void unless_empty(const loops::Region& region, Body body);
  Partial element_of(const loops::Region& region, bool is_vector, llvm::Value* t);
  Partial fold_element(const loops::Region& region, const Partial& sum, bool is_vector,
                       llvm::Value* t, int width);
  Partial identity(const loops::Region& region, int width);
  Partial fold(const loops::Region& region, const Partial& a, const Partial& b, int width);
  Partial fold_extreme(const loops::Region& region, const Partial& a, const Partial& b);
  Partial combine(const loops::Region& region, std::vector<Partial> parts, int width);
  Partial combine_lanes(const loops::Region& region, Partial sum);
  lang::DType element_type(const loops::Region& region) const;
  PartialArray make_array(const Partial& like, int count = loops::kReductionLanes);
  Partial load_from(const PartialArray& array, llvm::Value* slot);
  void store_to(const PartialArray& array, llvm::Value* slot, const Partial& partial);
  Partial make_cell(const Partial& like);
  Partial load_cell(const Partial& cell, const Partial& like);
  void store_cell(const Partial& cell, const Partial& partial);
  llvm::Value* combine_stored(llvm::Value* old, llvm::Value* value);

  // busy_codegen.cpp
  // [begin, end) of an axis.
  struct Part {
    enum Kind : std::uint8_t { All, None, Some } kind = All;
    llvm::Value* begin = nullptr;
    llvm::Value* end = nullptr;
  };
  Part busy_part(const loops::Region& region);
  std::pair<llvm::Value*, llvm::Value*> rounds_in(const Part& part, llvm::Value* begin,
                                                  llvm::Value* end);
  void busy_rounds(const loops::Region& region, const Part& part, llvm::Value* row,
                   llvm::Value* row_end, const std::function<void(llvm::Value*)>& round,
                   const std::function<void(llvm::Value*)>& close_block);
  Part where_not_zero(loops::ValueId id, std::int32_t axis, int& budget);
  Part where_holds(loops::ValueId condition, bool wanted, std::int32_t axis, int& budget);
  Part where_compared(const loops::Instruction& comparison, bool wanted, std::int32_t axis);
  llvm::Value* beyond_index(loops::ValueId id, std::int32_t axis);
  Part in_both(const Part& a, const Part& b);
  Part in_either(const Part& a, const Part& b);

  // block_codegen.cpp
  std::int64_t most_elements(const loops::Region& region) const;
  bool has_blocks(const loops::Region& region) const;
  // The number of the block that element t is in; and of those before it.
  llvm::Value* block_of(llvm::Value* t) {
    return b_.CreateLShr(t, std::countr_zero(static_cast<std::uint64_t>(loops::kReductionBlock)));
  }
  // Where block number `block` waits (loops/reduction_tree.h), and how many levels there may be
  // something at behind so many blocks.
  llvm::Value* waiting_level(llvm::Value* block) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateNot(block), b_.getFalse());
  }
  llvm::Value* waiting_levels(llvm::Value* blocks) {
    return b_.CreateSub(int64(64),
                        b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, blocks, b_.getFalse()));
  }
  // block(begin, end) gives the result of a block of the region's only axis, which is not empty.
  template <class Block>
  Partial reduce_blocks(const loops::Region& region, const Partial& start, int width, Block block);
  PartialArray make_waiting(const loops::Region& region, const Partial& like);
  void wait(const loops::Region& region, const PartialArray& waiting, llvm::Value* block,
            const Partial& result, int width);
  Partial combine_waiting(const loops::Region& region, const PartialArray& waiting,
                          llvm::Value* blocks, const Partial& rest, int width);

  // tile_codegen.cpp
  struct TilePoint {
    std::vector<std::int64_t> indices;  // of the tile's axes
    std::vector<LaneValue> values;      // what is known there
  };
  // A reduction while the points of a tile are.
  struct Tiled {
    const loops::Region& region;
    bool is_vector;
    int width;
    Partial start;
    std::vector<Partial> cells;        // by point: the partial result at hand
    std::vector<PartialArray> lanes;   // those that wait, of a block
    std::vector<PartialArray> blocks;  // and of blocks
  };
  int tile_width();
  void find_tile_points(int width);
  void enter(const TilePoint& point);
  void emit_tile();
  std::vector<Partial> reduce_tile(const loops::Instruction& instruction);
  void tile_fold(const Tiled& tiled, const std::vector<PartialArray>& waiting, llvm::Value* level);
  void tile_wait(const Tiled& tiled, const std::vector<PartialArray>& waiting, llvm::Value* number);
  void tile_lane(const Tiled& tiled, llvm::Value* begin, llvm::Value* end, llvm::Value* lane);
  void tile_block(const Tiled& tiled, llvm::Value* begin, llvm::Value* end);

  // Small things.
  llvm::Value* int64(std::int64_t value) { return b_.getInt64(static_cast<std::uint64_t>(value)); }
  llvm::Value* size_value(const loops::Size& size);
  llvm::Value* extent(std::int32_t axis) { return size_value(kernel_.extents[axis]); }
  bool is_varying(loops::ValueId id) const;
  llvm::Value* operand(loops::ValueId id, bool as_vector);
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* lane_numbers(int width);
  ScalarCodegen scalars(int width) { return {b_, width}; }
  llvm::BasicBlock* new_block(const char* name);
  llvm::AllocaInst* new_cell(llvm::Type* type, const char* name);
  // Returns from a kernel that polls when a stop is requested.
  void poll();
  // for (i = begin; i < end; i += step) body(i), with a poll at the end of each.
  template <class Body>
  void loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, Body body);
  template <class Body>
  void when(llvm::Value* condition, Body body);

  const loops::Kernel& kernel_;
  Analysis& analysis_;
  const HostTraits& host_;
  const Company company_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<llvm::Value*> buffers_;     // pointers, by slot
  std::vector<llvm::Value*> sizes_;       // by slot
  std::vector<llvm::Value*> axis_index_;  // by axis; of lane 0
  std::vector<LaneValue> values_;         // by value
  std::vector<bool> is_hoisted_;          // by value: emitted at the entry, or before a segment
  std::vector<bool> is_settled_;          // by value: the same at all points of a segment
  Lanes lanes_;
  std::vector<const loops::Instruction*> turns_;   // conditions that end a segment
  std::vector<const loops::Instruction*> header_;  // what is computed before one, in order
  std::int32_t lane_axis_ = -1;                    // of the domain
  std::int32_t written_out_ = -1;                  // likewise, behind it: a point after the other
  llvm::BasicBlock* fail_target_ =
      nullptr;                            // the exact form's start, while the fast one is emitted
  bool is_exact_ = false;                 // the exact form is being emitted
  llvm::GlobalVariable* zero_ = nullptr;  // see zero_place
  llvm::Value* stop_ = nullptr;           // where a kernel that polls looks
  // Where the axis that is written out is, and the columns that are loaded, and to be stored.
  struct Columns {
    std::int64_t first = 0;
    std::vector<llvm::Value*> values;
  };
  RowPoint row_;
  std::unordered_map<loops::ValueId, Columns> columns_;
  struct Stored {
    Place to;  // of the first column
    std::vector<llvm::Value*> values;
  };
  std::unordered_map<std::int32_t, Stored> stored_;  // by output
  std::vector<TilePoint> tile_points_;
  std::vector<llvm::Value*> resume_;  // cells: where it begins, by domain axis
};

template <class Body>
void KernelCodegen::loop(llvm::Value* begin, llvm::Value* end, std::int64_t step, Body body) {
  counted_loop(b_, begin, end, step, [&](llvm::Value* index) {
    body(index);
    poll();
  });
}

template <class Body>
void KernelCodegen::when(llvm::Value* condition, Body body) {
  llvm::BasicBlock* const then = new_block("then");
  llvm::BasicBlock* const after = new_block("after");
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  body();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

}  // namespace relay::jit
