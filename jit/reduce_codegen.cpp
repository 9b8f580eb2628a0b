#include <algorithm>
#include <limits>
#include <utility>

#include "jit/kernel_codegen.h"
#include "loops/reduce_op.h"
#include "loops/reduction_tree.h"

// Reductions. Element t of a reduction goes to partial result t mod 16, and the sixteen are
// combined in pairs, for each block of elements where there are blocks (loops/loop_ir.h): the bits
// depend on it. There are four ways to get there:
//
//   unrolled        element by element, where there are few: no loops, and only the partial
//                   results that occur.
//   across lanes    the sixteen partial results are the lanes of one vector; the last axis is
//   spread
//                   over them. In scalar code, when the last axis is contiguous.
//   in registers    sixteen scalars or vectors, t unrolled by 16: one axis and a small body.
//   in memory       sixteen scalars or vectors in an array, indexed by t mod 16: everything else.
namespace relay::jit {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using llvm::Value;
using loops::Instruction;
using loops::is_arg;
using loops::kReductionBlock;
using loops::kReductionLanes;
using loops::Region;

namespace {

constexpr std::int64_t kUnrolledRounds = 4;
constexpr std::int64_t kLeastRow = 2 * kReductionLanes;

}  // namespace

// ---- Partial results --------------------------------------------------------------------------

DType KernelCodegen::element_type(const Region& region) const {
  return analysis_.definition(region.result).dtype;
}

KernelCodegen::Partial KernelCodegen::identity(const Region& region, int width) {
  const DType dtype = element_type(region);
  Partial result;
  result.value = scalars(width).constant(dtype, loops::identity_bits(region.op, dtype));
  // Above every t: an element that is there wins, even one equal to the identity.
  if (is_arg(region.op)) {
    result.index = scalars(width).constant(DType::Int64, std::numeric_limits<std::int64_t>::max());
  }
  return result;
}

KernelCodegen::Partial KernelCodegen::fold_extreme(const Region& region, const Partial& a,
                                                   const Partial& b) {
  const DType dtype = element_type(region);
  const Prim order = region.op == ReduceOp::ArgMax ? Prim::Gt : Prim::Lt;
  Value* wins = scalars(1).compare(order, dtype, b.value, a.value);
  Value* is_tie = scalars(1).compare(Prim::Eq, dtype, b.value, a.value);
  if (lang::is_float(dtype)) {
    Value* const nan_a = scalars(1).is_nan(a.value);
    Value* const nan_b = scalars(1).is_nan(b.value);
    wins = b_.CreateOr(wins, b_.CreateAnd(nan_b, b_.CreateNot(nan_a)));
    is_tie = b_.CreateOr(is_tie, b_.CreateAnd(nan_a, nan_b));
  }
  wins = b_.CreateOr(wins, b_.CreateAnd(is_tie, b_.CreateICmpSLT(b.index, a.index)));
  return {b_.CreateSelect(wins, b.value, a.value), b_.CreateSelect(wins, b.index, a.index)};
}

KernelCodegen::Partial KernelCodegen::fold(const Region& region, const Partial& a, const Partial& b,
                                           int width) {
  if (is_arg(region.op)) return fold_extreme(region, a, b);
  const Prim prim = loops::prim_of(region.op);
  return {scalars(width).binary(prim, element_type(region), a.value, b.value), nullptr};
}

KernelCodegen::Partial KernelCodegen::combine(const Region& region, std::vector<Partial> parts,
                                              int width) {
  for (std::size_t half = kReductionLanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half && i + half < parts.size(); ++i) {
      parts[i] = fold(region, parts[i], parts[i + half], width);
    }
  }
  return parts[0];
}

// The same for partial results that are the lanes of one vector.
KernelCodegen::Partial KernelCodegen::combine_lanes(const Region& region, Partial sum) {
  const auto pick = [&](Value* vector, int from, int count) -> Value* {
    if (vector == nullptr) return nullptr;
    if (count == 1) return b_.CreateExtractElement(vector, static_cast<std::uint64_t>(from));
    std::vector<int> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(from + i);
    return b_.CreateShuffleVector(vector, lanes);
  };
  for (int half = kReductionLanes / 2; half > 0; half /= 2) {
    const Partial low = {pick(sum.value, 0, half), pick(sum.index, 0, half)};
    const Partial high = {pick(sum.value, half, half), pick(sum.index, half, half)};
    sum = fold(region, low, high, half);
  }
  return sum;
}

KernelCodegen::Partial KernelCodegen::make_cell(const Partial& like) {
  Partial cell;
  cell.value = new_cell(like.value->getType(), "partial");
  if (like.index != nullptr) cell.index = new_cell(like.index->getType(), "index");
  return cell;
}

KernelCodegen::Partial KernelCodegen::load_cell(const Partial& cell, const Partial& like) {
  Partial result;
  result.value = b_.CreateLoad(like.value->getType(), cell.value);
  if (like.index != nullptr) result.index = b_.CreateLoad(like.index->getType(), cell.index);
  return result;
}

void KernelCodegen::store_cell(const Partial& cell, const Partial& partial) {
  b_.CreateStore(partial.value, cell.value);
  if (partial.index != nullptr) b_.CreateStore(partial.index, cell.index);
}

KernelCodegen::PartialArray KernelCodegen::make_array(const Partial& like, int count) {
  const auto array_of = [&](Value* element, const char* name) {
    return new_cell(llvm::ArrayType::get(element->getType(), static_cast<std::uint64_t>(count)),
                    name);
  };
  PartialArray array;
  array.element = like;
  array.values = array_of(like.value, "partials");
  if (like.index != nullptr) array.indices = array_of(like.index, "indices");
  return array;
}

KernelCodegen::Partial KernelCodegen::load_from(const PartialArray& array, Value* slot) {
  const auto load = [&](Value* base, Value* like) -> Value* {
    if (base == nullptr) return nullptr;
    return b_.CreateLoad(like->getType(), b_.CreateGEP(like->getType(), base, slot));
  };
  return {load(array.values, array.element.value), load(array.indices, array.element.index)};
}

void KernelCodegen::store_to(const PartialArray& array, Value* slot, const Partial& partial) {
  const auto store = [&](Value* base, Value* value) {
    if (base != nullptr) b_.CreateStore(value, b_.CreateGEP(value->getType(), base, slot));
  };
  store(array.values, partial.value);
  store(array.indices, partial.index);
}

// ---- Nests ------------------------------------------------------------------------------------

template <class Body>
void KernelCodegen::unless_empty(const Region& region, Body body) {
  Value* is_full = b_.getTrue();
  for (const std::int32_t axis : region.axes) {
    is_full = b_.CreateAnd(is_full, b_.CreateICmpSGT(extent(axis), int64(0)));
  }
  when(is_full, [&] {
    emit_level(region, -1);
    body();
  });
}

template <class Block>
KernelCodegen::Partial KernelCodegen::reduce_blocks(const Region& region, const Partial& start,
                                                    int width, Block block) {
  Value* const count = extent(region.axes[0]);
  if (!has_blocks(region)) return block(int64(0), count);
  const Partial result = make_cell(start);
  const PartialArray waiting = make_waiting(region, start);
  loop(int64(0), count, kReductionBlock, [&](Value* begin) {
    Value* const next = b_.CreateAdd(begin, int64(kReductionBlock));
    Value* const is_followed = b_.CreateICmpSLT(next, count);
    store_cell(result, block(begin, b_.CreateSelect(is_followed, next, count)));
    when(is_followed,
         [&] { wait(region, waiting, block_of(begin), load_cell(result, start), width); });
  });
  Value* const before = block_of(b_.CreateSub(count, int64(1)));
  return combine_waiting(region, waiting, before, load_cell(result, start), width);
}

// The loops over axes [depth, end) of the region, and in each the instructions that become known
// there.
template <class Body>
void KernelCodegen::reduction_nest(const Region& region, std::size_t depth, std::size_t end,
                                   Body body) {
  if (depth == end) {
    body();
    return;
  }
  const std::int32_t axis = region.axes[depth];
  loop(int64(0), extent(axis), 1, [&](Value* index) {
    axis_index_[axis] = index;
    emit_level(region, static_cast<int>(depth));
    reduction_nest(region, depth + 1, end, body);
  });
}

// The region's result at the current indices, as element number `t`, or numbers `t` in vector code.
KernelCodegen::Partial KernelCodegen::element_of(const Region& region, bool is_vector, Value* t) {
  Partial element;
  element.value = operand(region.result, is_vector);
  if (is_arg(region.op)) {
    element.index = is_vector && !t->getType()->isVectorTy() ? splat(t) : t;
  }
  return element;
}

// `sum` with the element at the current indices.
KernelCodegen::Partial KernelCodegen::fold_element(const Region& region, const Partial& sum,
                                                   bool is_vector, Value* t, int width) {
  if (region.op != ReduceOp::Dot) return fold(region, sum, element_of(region, is_vector, t), width);
  const Instruction& product = analysis_.definition(region.result);
  RELAY_CHECK(product.code == loops::Code::Primitive && product.prim == Prim::Mul,
              "the element of a dot is a product");
  Value* const a = operand(product.args[0], is_vector);
  Value* const b = operand(product.args[1], is_vector);
  return {b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, sum.value}), nullptr};
}

KernelCodegen::LaneValue KernelCodegen::emit_reduce(const Instruction& instruction) {
  const Region& region = kernel_.regions[instruction.region];
  if (const auto count = analysis_.unrolled_count(instruction.region); count && !is_exact_) {
    const bool is_vector = is_varying(instruction.id);
    Value* const result = reduce_unrolled(region, *count, is_vector).result();
    return is_vector ? LaneValue{nullptr, result} : LaneValue{result, nullptr};
  }
  // What is loaded in its loops stays in them.
  const RowPoint row = std::exchange(row_, {});
  LaneValue result;
  if (is_varying(instruction.id)) {
    result = {nullptr, reduce_each_lane(region, true).result()};
  } else {
    const Lanes outer = std::exchange(lanes_, {});
    result = {reduce_uniform(region).result(), nullptr};
    lanes_ = outer;
  }
  row_ = row;
  return result;
}

// One result for all lanes.
KernelCodegen::Partial KernelCodegen::reduce_uniform(const Region& region) {
  if (is_exact_ || analysis_.vector_axis(region) < 0) return reduce_each_lane(region, false);
  if (host_.has_masks || region.axes.size() == 1) return reduce_across_lanes(region);
  // Where there are no masks, the rounds at both ends of a row are scalar code; and a reduction
  // inside would be there twice at each level.
  const auto is_reduce = [](const Instruction& inner) { return inner.code == loops::Code::Reduce; };
  if (std::any_of(region.code.begin(), region.code.end(), is_reduce))
    return reduce_each_lane(region, false);
  const loops::Size& row = kernel_.extents[region.axes.back()];
  if (row.is_literal) {
    return row.value >= kLeastRow ? reduce_across_lanes(region) : reduce_each_lane(region, false);
  }
  const Partial start = identity(region, 1);
  const Partial result = make_cell(start);
  Value* const is_long = b_.CreateICmpSGE(size_value(row), int64(kLeastRow));
  when(is_long, [&] { store_cell(result, reduce_across_lanes(region)); });
  when(b_.CreateNot(is_long), [&] { store_cell(result, reduce_each_lane(region, false)); });
  return load_cell(result, start);
}

// ---- Element by element -----------------------------------------------------------------------

KernelCodegen::Partial KernelCodegen::reduce_unrolled(const Region& region, std::int64_t count,
                                                      bool is_vector) {
  const int width = is_vector ? lanes_.width : 1;
  emit_level(region, -1);
  std::vector<Partial> parts;
  const RowPoint outer = row_;
  const std::int32_t last = region.axes.back();
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int64_t row = kernel_.extents[last].value;
    begin_column({is_vector ? last : -1, t % row, row});
    std::int64_t rest = t;
    for (std::size_t i = region.axes.size(); i-- > 0;) {
      const std::int64_t extent = kernel_.extents[region.axes[i]].value;
      axis_index_[region.axes[i]] = int64(rest % extent);
      rest /= extent;
    }
    for (std::size_t level = 0; level < region.axes.size(); ++level)
      emit_level(region, static_cast<int>(level));
    const auto slot = static_cast<std::size_t>(t % kReductionLanes);
    if (slot == parts.size()) parts.push_back(identity(region, width));
    parts[slot] = fold_element(region, parts[slot], is_vector, int64(t), width);
  }
  begin_column(outer);
  // Partial results that no element went to are the identity, which changes nothing.
  return combine(region, std::move(parts), width);
}

// ---- Sixteen scalars or vectors ---------------------------------------------------------------

KernelCodegen::Partial KernelCodegen::reduce_each_lane(const Region& region, bool is_vector) {
  const auto index = static_cast<std::int32_t>(&region - kernel_.regions.data());
  if (!is_exact_ && region.axes.size() == 1 && is_light(index))
    return reduce_in_registers(region, is_vector);
  return reduce_in_memory(region, is_vector);
}

KernelCodegen::Partial KernelCodegen::reduce_in_registers(const Region& region, bool is_vector) {
  const int width = is_vector ? lanes_.width : 1;
  const Partial start = identity(region, width);
  const Partial result = make_cell(start);
  store_cell(result, start);
  std::vector<Partial> cells;
  for (int i = 0; i < kReductionLanes; ++i) cells.push_back(make_cell(start));
  const std::int32_t axis = region.axes[0];
  const auto add = [&](Value* t, const Partial& sum) {
    axis_index_[axis] = t;
    emit_level(region, 0);
    return fold_element(region, sum, is_vector, t, width);
  };
  Part busy;
  const auto block = [&](Value* from, Value* to) {
    for (const Partial& cell : cells) store_cell(cell, start);
    const auto part = rounds_in(busy, from, to);
    Value* const begin = part.first;
    Value* const end = part.second;
    Value* const whole =
        b_.CreateAdd(begin, b_.CreateAnd(b_.CreateSub(end, begin), int64(-kReductionLanes)));
    loop(begin, whole, kReductionLanes, [&](Value* first) {
      for (int i = 0; i < kReductionLanes; ++i) {
        Value* const t = b_.CreateAdd(first, int64(i));
        store_cell(cells[i], add(t, load_cell(cells[i], start)));
      }
    });
    when(b_.CreateICmpSLT(whole, end), [&] {
      const PartialArray array = make_array(start);
      for (int i = 0; i < kReductionLanes; ++i)
        store_to(array, int64(i), load_cell(cells[i], start));
      loop(whole, end, 1, [&](Value* t) {
        Value* const slot = b_.CreateSub(t, whole);
        store_to(array, slot, add(t, load_from(array, slot)));
      });
      for (int i = 0; i < kReductionLanes; ++i) store_cell(cells[i], load_from(array, int64(i)));
    });
    std::vector<Partial> parts;
    for (const Partial& cell : cells) parts.push_back(load_cell(cell, start));
    return combine(region, std::move(parts), width);
  };
  unless_empty(region, [&] {
    busy = busy_part(region);
    store_cell(result, reduce_blocks(region, start, width, block));
  });
  return load_cell(result, start);
}

KernelCodegen::Partial KernelCodegen::reduce_in_memory(const Region& region, bool is_vector) {
  const int width = is_vector ? lanes_.width : 1;
  const Partial start = identity(region, width);
  const PartialArray array = make_array(start);
  const auto begin = [&] {
    for (int i = 0; i < kReductionLanes; ++i) store_to(array, int64(i), start);
  };
  const auto combined = [&] {
    std::vector<Partial> parts;
    for (int i = 0; i < kReductionLanes; ++i) parts.push_back(load_from(array, int64(i)));
    return combine(region, std::move(parts), width);
  };
  PartialArray waiting;
  if (has_blocks(region)) waiting = make_waiting(region, start);
  begin();
  llvm::AllocaInst* const count = new_cell(b_.getInt64Ty(), "t");
  b_.CreateStore(int64(0), count);
  unless_empty(region, [&] {
    reduction_nest(region, 0, region.axes.size(), [&] {
      Value* const t = b_.CreateLoad(b_.getInt64Ty(), count);
      Value* const slot = b_.CreateAnd(t, int64(kReductionLanes - 1));
      store_to(array, slot, fold_element(region, load_from(array, slot), is_vector, t, width));
      Value* const next = b_.CreateAdd(t, int64(1));
      b_.CreateStore(next, count);
      if (!has_blocks(region)) return;
      when(b_.CreateICmpEQ(b_.CreateAnd(next, int64(kReductionBlock - 1)), int64(0)), [&] {
        wait(region, waiting, block_of(t), combined(), width);
        begin();
      });
    });
  });
  const Partial rest = combined();
  if (!has_blocks(region)) return rest;
  Value* const blocks = block_of(b_.CreateLoad(b_.getInt64Ty(), count));
  return combine_waiting(region, waiting, blocks, rest, width);
}

// ---- One vector -------------------------------------------------------------------------------

KernelCodegen::Partial KernelCodegen::reduce_across_lanes(const Region& region) {
  lanes_ = {region.axes.back(), kReductionLanes, nullptr};
  const Partial sum = region.axes.size() == 1 ? across_one_axis(region) : across_axes(region);
  lanes_ = {};
  return sum;
}

// The lanes' rounds begin at multiples of 16, so only the last one is partial.
KernelCodegen::Partial KernelCodegen::across_one_axis(const Region& region) {
  const Partial start = identity(region, kReductionLanes);
  const Partial scalar_start = identity(region, 1);
  const Partial result = make_cell(scalar_start);
  const Partial cell = make_cell(start);
  store_cell(result, scalar_start);
  // Pays for the ends of the blocks.
  const bool is_light_body = is_light(static_cast<std::int32_t>(&region - kernel_.regions.data()));
  const bool is_unrolled = has_blocks(region) && is_light_body;
  const bool is_quick = is_light_body && folds_quickly(region);
  const bool is_masked = loads_under_masks(region);
  Part busy;
  const auto block = [&](Value* block_begin, Value* block_end) {
    store_cell(cell, start);
    const auto part = rounds_in(busy, block_begin, block_end);
    Value* const begin = part.first;
    Value* const end = part.second;
    Value* const whole =
        b_.CreateAdd(begin, b_.CreateAnd(b_.CreateSub(end, begin), int64(-kReductionLanes)));
    const auto rounds = [&](Value* from, Value* to, std::int64_t unrolled) {
      loop(from, to, unrolled * kReductionLanes, [&](Value* first) {
        for (std::int64_t i = 0; i < unrolled; ++i) {
          Value* const round = b_.CreateAdd(first, int64(i * kReductionLanes));
          store_cell(cell, across_round(region, round, load_cell(cell, start)));
        }
      });
    };
    Value* rest = begin;
    if (is_unrolled) {
      constexpr std::int64_t kElements = kUnrolledRounds * kReductionLanes;
      rest = b_.CreateAdd(begin, b_.CreateAnd(b_.CreateSub(end, begin), int64(-kElements)));
      rounds(begin, rest, kUnrolledRounds);
    }
    if (is_quick) {
      quick_rounds(region, begin, whole, cell);
    } else {
      rounds(rest, whole, 1);
    }
    when(b_.CreateICmpSLT(whole, end), [&] {
      const Partial old = load_cell(cell, start);
      store_cell(cell, is_masked ? across_masked(region, whole, end, old)
                                 : across_in_scalars(region, int64(0), whole, end, old));
    });
    return combine_lanes(region, load_cell(cell, start));
  };
  unless_empty(region, [&] {
    busy = busy_part(region);
    store_cell(result, reduce_blocks(region, scalar_start, 1, block));
  });
  return load_cell(result, scalar_start);
}

// Where there is no NaN, a maximum is one instruction, and where there is one, it wins. To look for
// that in each partial result would take the loop four times as long.
bool KernelCodegen::folds_quickly(const Region& region) const {
  const DType dtype = element_type(region);
  return (region.op == ReduceOp::Max || region.op == ReduceOp::Min) && host_.has_masks &&
         (dtype == DType::Float32 || dtype == DType::Float64);
}

// Are a few of sixteen elements read by single instructions?
bool KernelCodegen::loads_under_masks(const Region& region) {
  if (host_.has_masks) return true;
  const std::int32_t axis = region.axes.back();
  return host_.has_wide_masked_loads &&
         std::all_of(region.code.begin(), region.code.end(), [&](const Instruction& each) {
           if (each.code == loops::Code::Reduce) return false;
           if (each.code != loops::Code::Load) return true;
           const auto step = analysis_.step(each.address, axis);
           return step == 0 ||
                  (step == 1 && lang::size_of(kernel_.buffers[each.buffer].dtype) >= 4);
         });
}

// Rounds of 16 elements, [begin, end), folded into `cell`, which holds the identity.
void KernelCodegen::quick_rounds(const Region& region, Value* begin, Value* end,
                                 const Partial& cell) {
  const Partial start = identity(region, kReductionLanes);
  auto* const mask = llvm::FixedVectorType::get(b_.getInt1Ty(), kReductionLanes);
  llvm::AllocaInst* const nans = new_cell(mask, "nans");
  b_.CreateStore(llvm::Constant::getNullValue(mask), nans);
  loop(begin, end, kReductionLanes, [&](Value* first) {
    axis_index_[region.axes[0]] = first;
    emit_level(region, 0);
    Value* const element = operand(region.result, true);
    Value* const old = load_cell(cell, start).value;
    Value* const stays = region.op == ReduceOp::Max ? b_.CreateFCmpOGT(old, element)
                                                    : b_.CreateFCmpOLT(old, element);
    store_cell(cell, {b_.CreateSelect(stays, old, element), nullptr});
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(mask, nans), b_.CreateFCmpUNO(element, element)),
                   nans);
  });
  when(b_.CreateOrReduce(b_.CreateLoad(mask, nans)), [&] {
    store_cell(cell, start);
    loop(begin, end, kReductionLanes, [&](Value* first) {
      store_cell(cell, across_round(region, first, load_cell(cell, start)));
    });
  });
}

// Sixteen elements from number `first` on, of one axis, folded into `sum`.
KernelCodegen::Partial KernelCodegen::across_round(const Region& region, Value* first,
                                                   const Partial& sum) {
  axis_index_[region.axes[0]] = first;
  emit_level(region, 0);
  Value* const t = b_.CreateAdd(splat(first), lane_numbers(kReductionLanes));
  return fold_element(region, sum, true, t, kReductionLanes);
}

// Those before `end` of them.
KernelCodegen::Partial KernelCodegen::across_masked(const Region& region, Value* first, Value* end,
                                                    const Partial& old) {
  lanes_.count = b_.CreateSub(end, first);
  lanes_.mask = b_.CreateICmpSLT(lane_numbers(kReductionLanes), splat(lanes_.count));
  const Partial kept = selected(lanes_.mask, across_round(region, first, old), old);
  lanes_.mask = lanes_.count = nullptr;
  return kept;
}

KernelCodegen::Partial KernelCodegen::selected(Value* mask, const Partial& a, const Partial& b) {
  return {b_.CreateSelect(mask, a.value, b.value),
          a.index != nullptr ? b_.CreateSelect(mask, a.index, b.index) : nullptr};
}

// Those of [begin, end), which are in one round of sixteen, in scalars, with the lanes in memory.
// The row that they are in begins with number `row`.
KernelCodegen::Partial KernelCodegen::across_in_scalars(const Region& region, Value* row,
                                                        Value* begin, Value* end,
                                                        const Partial& old) {
  const PartialArray rest = make_array(identity(region, 1));
  const auto lane_of = [&](Value* lanes, int i) {
    return lanes == nullptr ? nullptr
                            : b_.CreateExtractElement(lanes, static_cast<std::uint64_t>(i));
  };
  const auto with_lane = [&](Value* lanes, int i, Value* lane) {
    return lanes == nullptr ? nullptr
                            : b_.CreateInsertElement(lanes, lane, static_cast<std::uint64_t>(i));
  };
  for (int i = 0; i < kReductionLanes; ++i)
    store_to(rest, int64(i), {lane_of(old.value, i), lane_of(old.index, i)});
  const Lanes vector = lanes_;
  lanes_ = {};
  loop(begin, end, 1, [&](Value* t) {
    axis_index_[region.axes.back()] = b_.CreateSub(t, row);
    emit_level(region, static_cast<int>(region.axes.size()) - 1);
    Value* const slot = b_.CreateAnd(t, int64(kReductionLanes - 1));
    store_to(rest, slot, fold_element(region, load_from(rest, slot), false, t, 1));
  });
  lanes_ = vector;
  Partial sum = old;
  for (int i = 0; i < kReductionLanes; ++i) {
    const Partial lane = load_from(rest, int64(i));
    sum = {with_lane(sum.value, i, lane.value), with_lane(sum.index, i, lane.index)};
  }
  return sum;
}

// Several axes: the last one is walked in rounds that begin where t is a multiple of 16. Of a round
// that is not all in the row the lanes outside are masked, or it is scalar code where there are no
// masks.
KernelCodegen::Partial KernelCodegen::across_axes(const Region& region) {
  const std::int32_t axis = region.axes.back();
  const std::size_t outer = region.axes.size() - 1;
  const bool is_masked = loads_under_masks(region);
  const Partial start = identity(region, kReductionLanes);
  const Partial cell = make_cell(start);
  store_cell(cell, start);
  PartialArray waiting;
  if (has_blocks(region)) waiting = make_waiting(region, identity(region, 1));
  llvm::AllocaInst* const row_start = new_cell(b_.getInt64Ty(), "row");
  b_.CreateStore(int64(0), row_start);
  unless_empty(region, [&] {
    reduction_nest(region, 0, outer, [&] {
      Value* const row = b_.CreateLoad(b_.getInt64Ty(), row_start);
      Value* const row_end = b_.CreateAdd(row, extent(axis));
      const Part busy = busy_part(region);
      const auto whole_round = [&](Value* first, Value* t) {
        axis_index_[axis] = b_.CreateSub(first, row);
        emit_level(region, static_cast<int>(outer));
        return fold_element(region, load_cell(cell, start), true, t, kReductionLanes);
      };
      const auto masked_round = [&](Value* first, Value* t) {
        lanes_.mask =
            b_.CreateAnd(b_.CreateICmpSGE(t, splat(row)), b_.CreateICmpSLT(t, splat(row_end)));
        const Partial sum = whole_round(first, t);
        const Partial kept = selected(lanes_.mask, sum, load_cell(cell, start));
        lanes_.mask = nullptr;
        return kept;
      };
      const auto round = [&](Value* first) {
        Value* const t = b_.CreateAdd(splat(first), lane_numbers(kReductionLanes));
        if (host_.has_masks) {
          store_cell(cell, masked_round(first, t));
          return;
        }
        Value* const last = b_.CreateAdd(first, int64(kReductionLanes));
        Value* const is_whole =
            b_.CreateAnd(b_.CreateICmpSGE(first, row), b_.CreateICmpSLE(last, row_end));
        when(is_whole, [&] { store_cell(cell, whole_round(first, t)); });
        when(b_.CreateNot(is_whole), [&] {
          if (is_masked) {
            store_cell(cell, masked_round(first, t));
            return;
          }
          Value* const from = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, row);
          Value* const to = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, row_end);
          store_cell(cell, across_in_scalars(region, row, from, to, load_cell(cell, start)));
        });
      };
      const auto close_block = [&](Value* next) {
        if (!has_blocks(region)) return;
        Value* const ends_block =
            b_.CreateICmpEQ(b_.CreateAnd(next, int64(kReductionBlock - 1)), int64(0));
        when(b_.CreateAnd(ends_block, b_.CreateICmpSLE(next, row_end)), [&] {
          Value* const block = block_of(b_.CreateSub(next, int64(1)));
          wait(region, waiting, block, combine_lanes(region, load_cell(cell, start)), 1);
          store_cell(cell, start);
        });
      };
      Value* const row_begin = b_.CreateAnd(row, int64(-kReductionLanes));
      if (busy.kind == Part::All) {
        loop(row_begin, row_end, kReductionLanes, [&](Value* first) {
          round(first);
          close_block(b_.CreateAdd(first, int64(kReductionLanes)));
        });
      } else {
        busy_rounds(region, busy, row, row_end, round, close_block);
      }
      b_.CreateStore(row_end, row_start);
    });
  });
  const Partial rest = combine_lanes(region, load_cell(cell, start));
  if (!has_blocks(region)) return rest;
  Value* const blocks = block_of(b_.CreateLoad(b_.getInt64Ty(), row_start));
  return combine_waiting(region, waiting, blocks, rest, 1);
}

// ---- Scatter ----------------------------------------------------------------------------------

Value* KernelCodegen::combine_stored(Value* old, Value* value) {
  if (kernel_.combine == ReduceOp::Set) return value;
  const DType dtype = kernel_.buffers[kernel_.output].dtype;
  const int width = value->getType()->isVectorTy() ? lanes_.width : 1;
  return scalars(width).binary(loops::prim_of(kernel_.combine), dtype, old, value);
}

}  // namespace relay::jit
