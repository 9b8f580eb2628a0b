#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "jit/kernel_codegen.h"

namespace relay::jit {

using lang::DType;
using lang::Prim;
using llvm::Value;
using loops::Code;
using loops::Instruction;
using loops::Region;
using loops::ValueId;

namespace {

constexpr std::int64_t kTileRows = 16;  // a line of memory holds at most that many float32

}  // namespace

KernelCodegen::KernelCodegen(const loops::Kernel& kernel, Analysis& analysis,
                             const HostTraits& host, llvm::Module& module, Company company)
    : kernel_(kernel),
      analysis_(analysis),
      host_(host),
      company_(company),
      module_(module),
      b_(module.getContext()) {
  const auto values = static_cast<std::size_t>(kernel.value_count);
  values_.resize(values);
  is_hoisted_.resize(values, false);
  is_settled_.resize(values, false);
  axis_index_.resize(kernel.extents.size(), nullptr);
}

// ---- Small things -----------------------------------------------------------------------------

llvm::BasicBlock* KernelCodegen::new_block(const char* name) {
  return llvm::BasicBlock::Create(module_.getContext(), name, function_);
}

// In the entry block, so that it is allocated once and can become a register.
llvm::AllocaInst* KernelCodegen::new_cell(llvm::Type* type, const char* name) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.begin());
  return builder.CreateAlloca(type, nullptr, name);
}

Value* KernelCodegen::size_value(const loops::Size& size) {
  return size.is_literal ? int64(size.value) : sizes_[static_cast<std::size_t>(size.value)];
}

bool KernelCodegen::is_varying(ValueId id) const {
  return lanes_.axis >= 0 && !is_settled_[id] &&
         (analysis_.depends(id) & axis_bit(lanes_.axis)) != 0;
}

Value* KernelCodegen::splat(Value* scalar) {
  return b_.CreateVectorSplat(static_cast<unsigned>(lanes_.width), scalar);
}

Value* KernelCodegen::lane_numbers(int width) {
  std::vector<llvm::Constant*> numbers;
  for (int lane = 0; lane < width; ++lane)
    numbers.push_back(b_.getInt64(static_cast<unsigned>(lane)));
  return llvm::ConstantVector::get(numbers);
}

Value* KernelCodegen::operand(ValueId id, bool as_vector) {
  const LaneValue& value = values_[id];
  if (!as_vector) return value.scalar;
  if (!is_varying(id)) return splat(value.scalar);
  if (value.vector != nullptr) return value.vector;
  const Instruction& instruction = analysis_.definition(id);
  if (instruction.code == Code::InRange)
    return is_in_range(instruction.args[0], instruction.size, true);
  Value* const step = splat(int64(*analysis_.step(id, lanes_.axis)));
  return b_.CreateAdd(splat(value.scalar), b_.CreateMul(lane_numbers(lanes_.width), step));
}

// ---- Function and domain ----------------------------------------------------------------------

llvm::Function* KernelCodegen::emit(const std::string& name) {
  llvm::Type* const pointer = b_.getPtrTy();
  llvm::Type* const word = b_.getInt64Ty();
  auto* const type =
      llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer, word, word, pointer}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
  function_->setDoesNotThrow();
  if (host_.vector_bytes == 64) function_->addFnAttr("prefer-vector-width", "512");
  b_.SetInsertPoint(new_block("entry"));
  emit_entry();
  // All loops run at least once from here on.
  Value* is_empty = b_.getFalse();
  if (kernel_.domain_rank > 0) {
    is_empty = b_.CreateICmpSGE(function_->getArg(2), function_->getArg(3));
    for (std::int32_t axis = 1; axis < kernel_.domain_rank; ++axis) {
      is_empty = b_.CreateOr(is_empty, b_.CreateICmpSLE(extent(axis), int64(0)));
    }
  }
  if (kernel_.tile_rank == 0) {
    written_out_ = analysis_.written_out_axis();
    lane_axis_ = analysis_.vector_axis();
  }
  if (analysis_.can_fail()) fail_target_ = new_block("exact");
  when(b_.CreateNot(is_empty), [&] {
    begin_point(-1, nullptr);
    emit_level(kernel_.regions[0], -1);
    emit_axis(0);
  });
  b_.CreateRet(b_.getInt32(0));
  if (fail_target_ != nullptr) emit_exact();
  return function_;
}

// All points from where the fast code gave up, in scalar code that hoists nothing that may fail:
// the first error that it meets is the first in row-major order.
void KernelCodegen::emit_exact() {
  b_.SetInsertPoint(fail_target_);
  fail_target_ = nullptr;
  is_exact_ = true;
  lane_axis_ = -1;
  emit_level(kernel_.regions[0], -1);
  emit_axis(0);
  b_.CreateRet(b_.getInt32(0));
}

// Notes for emit_exact that what follows is about `index` of `axis` and those after it.
void KernelCodegen::begin_point(std::int32_t axis, Value* index) {
  if (fail_target_ == nullptr) return;
  if (resume_.empty()) {
    for (std::int32_t i = 0; i < kernel_.domain_rank; ++i) {
      resume_.push_back(new_cell(b_.getInt64Ty(), "resume"));
    }
  }
  if (axis >= 0) b_.CreateStore(index, resume_[axis]);
  for (std::int32_t inner = axis + 1; inner < kernel_.domain_rank; ++inner) {
    b_.CreateStore(first_index(inner), resume_[inner]);
  }
}

Value* KernelCodegen::first_index(std::int32_t axis) {
  return axis == 0 ? function_->getArg(2) : int64(0);
}

void KernelCodegen::emit_entry() {
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    Value* const from = b_.CreateConstGEP1_64(b_.getPtrTy(), function_->getArg(0), i);
    buffers_.push_back(b_.CreateLoad(b_.getPtrTy(), from, "buffer"));
  }
  for (std::int32_t i = 0; i < kernel_.slot_count; ++i) {
    Value* const from =
        b_.CreateConstGEP1_64(b_.getInt64Ty(), function_->getArg(1), static_cast<unsigned>(i));
    sizes_.push_back(b_.CreateLoad(b_.getInt64Ty(), from, "size"));
  }
  if (kernel_.polls) {
    stop_ = b_.CreateLoad(b_.getPtrTy(),
                          b_.CreateConstGEP1_64(b_.getInt8Ty(), function_->getArg(4),
                                                offsetof(loops::KernelError, stop)),
                          "stop");
  }
  hoist_invariants(kernel_.regions[0]);
}

void KernelCodegen::poll() {
  if (stop_ == nullptr) return;
  Value* const request = b_.CreateLoad(b_.getInt8Ty(), stop_, /*isVolatile=*/true);
  llvm::BasicBlock* const stopped = new_block("stopped");
  llvm::BasicBlock* const on = new_block("on");
  b_.CreateCondBr(b_.CreateICmpNE(request, b_.getInt8(0)), stopped, on,
                  llvm::MDBuilder(module_.getContext()).createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(stopped);
  b_.CreateStore(b_.getInt32(static_cast<std::uint32_t>(loops::kStoppedSite)),
                 b_.CreateConstGEP1_64(b_.getInt8Ty(), function_->getArg(4),
                                       offsetof(loops::KernelError, site)));
  b_.CreateRet(b_.getInt32(1));
  b_.SetInsertPoint(on);
}

bool KernelCodegen::is_hoistable(const Instruction& instruction) const {
  if (analysis_.depends(instruction.id) != 0 || analysis_.may_fail(instruction)) return false;
  switch (instruction.code) {
    case Code::Load:  // its buffer may be empty
    case Code::Reduce:
    case Code::CheckIndex:
      return false;
    case Code::Primitive:
    case Code::InRange:
      return std::all_of(instruction.args.begin(), instruction.args.end(),
                         [&](ValueId arg) { return bool(is_hoisted_[arg]); });
    default:
      return true;
  }
}

void KernelCodegen::hoist_invariants(const Region& region) {
  for (const Instruction& instruction : region.code) {
    if (instruction.code == Code::Reduce) hoist_invariants(kernel_.regions[instruction.region]);
    if (!is_hoistable(instruction)) continue;
    emit_instruction(instruction);
    is_hoisted_[instruction.id] = true;
  }
}

int KernelCodegen::level_of(const Region& region, const Instruction& instruction) const {
  const AxisSet depends = analysis_.depends(instruction.id);
  const bool is_body = &region == &kernel_.regions[0];
  if (is_exact_) return (is_body ? kernel_.domain_rank : static_cast<int>(region.axes.size())) - 1;
  if (is_body) {
    for (std::int32_t axis = kernel_.domain_rank; axis-- > 0;) {
      if ((depends & axis_bit(axis)) != 0) return axis;
    }
    return -1;
  }
  for (int i = static_cast<int>(region.axes.size()); i-- > 0;) {
    if ((depends & axis_bit(region.axes[i])) != 0) return i;
  }
  return -1;
}

// The instructions that become known in the loop at depth `level`; -1 is before all loops.
void KernelCodegen::emit_level(const Region& region, int level) {
  for (const Instruction& instruction : region.code) {
    if (!is_hoisted_[instruction.id] && level_of(region, instruction) == level) {
      emit_instruction(instruction);
    }
  }
}

void KernelCodegen::emit_axis(std::int32_t axis) {
  if (axis == kernel_.domain_rank) {
    emit_store();
    return;
  }
  if (kernel_.tile_rank > 0 && axis + kernel_.tile_rank == kernel_.domain_rank) {
    emit_tile();
    return;
  }
  Value* begin = first_index(axis);
  if (is_exact_) {
    begin = b_.CreateLoad(b_.getInt64Ty(), resume_[axis]);
    b_.CreateStore(first_index(axis), resume_[axis]);
  }
  Value* const end = axis == 0 ? function_->getArg(3) : extent(axis);
  if (axis == lane_axis_ && lanes_.axis < 0) {
    emit_lane_axis(axis, begin, end, {});
    return;
  }
  if (axis + 1 == lane_axis_ && analysis_.wants_tiles(lane_axis_)) {
    emit_tiles(axis, begin, end);
    return;
  }
  const auto body = [&](Value* index) {
    axis_index_[axis] = index;
    begin_point(axis, index);
    emit_level(kernel_.regions[0], axis);
    emit_axis(axis + 1);
  };
  if (analysis_.is_unit(axis)) {
    body(int64(0));
  } else if (axis == written_out_ && !is_exact_) {
    const std::int64_t count = kernel_.extents[axis].value;
    const std::vector<Instruction>& code = kernel_.regions[0].code;
    const bool has_reduction = std::any_of(code.begin(), code.end(), [](const Instruction& each) {
      return each.code == Code::Reduce;
    });
    for (std::int64_t index = 0; index < count; ++index) {
      begin_column({lanes_.axis >= 0 && !has_reduction ? axis : -1, index, count});
      body(int64(index));
    }
    begin_column({});
  } else {
    loop(begin, end, 1, body);
  }
}

void KernelCodegen::emit_tiles(std::int32_t axis, Value* begin, Value* end) {
  loop(begin, end, kTileRows, [&](Value* first) {
    Value* const after = b_.CreateAdd(first, int64(kTileRows));
    const Tile tile = {first, b_.CreateSelect(b_.CreateICmpSLT(after, end), after, end)};
    emit_lane_axis(axis + 1, int64(0), extent(axis + 1), tile);
  });
}

// The points at `index` of the lane axis: one row of them, or those of all rows in the tile.
void KernelCodegen::emit_points(std::int32_t axis, Value* index, const Tile& tile) {
  axis_index_[axis] = index;
  begin_point(axis, index);
  const auto row = [&] {
    emit_level(kernel_.regions[0], axis);
    emit_axis(axis + 1);
  };
  if (tile.begin == nullptr) {
    row();
    return;
  }
  loop(tile.begin, tile.end, 1, [&](Value* outer) {
    axis_index_[axis - 1] = outer;
    emit_level(kernel_.regions[0], axis - 1);
    row();
  });
}

void KernelCodegen::emit_lane_axis(std::int32_t axis, Value* begin, Value* end, const Tile& tile) {
  // In tiles, the rows change within.
  if (tile.begin != nullptr) {
    emit_lanes(axis, begin, end, tile);
    return;
  }
  // Within `emit`, what is settled is another matter.
  emit_changes(axis, [&] {
    if (!kernel_.extents[axis].is_literal) find_turns(axis);
    if (turns_.empty()) {
      emit_lanes(axis, begin, end, tile);
    } else {
      emit_segments(axis, begin, end);
    }
  });
}

// Whole vectors, then the rest under a mask, or in scalar code where there are no masks.
void KernelCodegen::emit_lanes(std::int32_t axis, Value* begin, Value* end, const Tile& tile) {
  const int width = domain_width(axis);
  const auto points = [&](Value* index, Value* mask, Value* of_mask) {
    lanes_ = {axis, width, mask, of_mask};
    emit_points(axis, index, tile);
    lanes_ = {};
  };
  Value* const count = b_.CreateSub(end, begin);
  Value* const rest = b_.CreateAnd(count, int64(width - 1));
  Value* const whole_end = b_.CreateSub(end, rest);
  loop(begin, whole_end, width, [&](Value* index) { points(index, nullptr, nullptr); });
  if (host_.has_masks) {
    when(b_.CreateICmpSLT(whole_end, end), [&] {
      Value* const limit = b_.CreateVectorSplat(static_cast<unsigned>(width), rest);
      points(whole_end, b_.CreateICmpSLT(lane_numbers(width), limit), rest);
    });
    return;
  }
  const std::int32_t lane_axis = lane_axis_;
  lane_axis_ = -1;
  loop(whole_end, end, 1, [&](Value* index) { emit_points(axis, index, tile); });
  lane_axis_ = lane_axis;
}

bool KernelCodegen::is_light(std::int32_t region) const {
  // Of a math function the steps wait for each other: two vectors of it keep the CPU busy.
  constexpr int kMathWork = 4;
  int work = 0;
  for (const Instruction& instruction : kernel_.regions[region].code) {
    if (instruction.code == Code::Reduce) return false;
    if (instruction.code == Code::Primitive) {
      if (analysis_.may_fail(instruction)) return false;
      const bool is_math = (instruction.prim >= Prim::Rsqrt && instruction.prim <= Prim::Erf) ||
                           instruction.prim == Prim::Pow;
      work += is_math ? kMathWork : 1;
    }
    if (instruction.code == Code::Load || instruction.code == Code::CheckIndex) ++work;
  }
  return work <= 8;
}

// As many lanes as the widest type that is computed with has in one vector; two vectors where that
// leaves little to do per loop iteration.
int KernelCodegen::domain_width(std::int32_t axis) {
  int bytes = 1;
  const auto widen = [&](DType dtype) {
    const int size = static_cast<int>(lang::size_of(dtype));
    bytes = std::max(bytes, lang::is_float(dtype) ? std::max(size, 4) : size);
  };
  for (ValueId id = 0; id < kernel_.value_count; ++id) {
    if ((analysis_.depends(id) & axis_bit(axis)) == 0) continue;
    const Instruction& instruction = analysis_.definition(id);
    if (instruction.dtype == DType::Int64 && analysis_.step(id, axis)) continue;
    widen(instruction.dtype);
  }
  widen(kernel_.buffers[kernel_.output].dtype);
  for (const auto& store : kernel_.further) widen(kernel_.buffers[store.output].dtype);
  const int width = std::max(host_.vector_bytes / bytes, 2);
  return is_light(0) && width <= 32 ? 2 * width : width;
}

// ---- Instructions -----------------------------------------------------------------------------

void KernelCodegen::emit_instruction(const Instruction& instruction) {
  LaneValue& result = values_[instruction.id];
  switch (instruction.code) {
    case Code::Axis:
      result = {analysis_.is_unit(instruction.axis) ? int64(0) : axis_index_[instruction.axis],
                nullptr};
      return;
    case Code::Constant:
      result = {scalars(1).constant(instruction.dtype, instruction.bits), nullptr};
      return;
    case Code::SizeValue:
      result = {size_value(instruction.size), nullptr};
      return;
    case Code::ScalarInput: {
      Place place;
      place.pointer = buffers_[instruction.buffer];
      result = {load_lanes(place, instruction.dtype), nullptr};
      return;
    }
    case Code::Load:
      result = emit_load(instruction);
      return;
    case Code::Primitive:
      result = emit_primitive(instruction);
      return;
    case Code::InRange:
      result = emit_range(instruction);
      return;
    case Code::CheckIndex:
      result = emit_check(instruction);
      return;
    case Code::Reduce:
      result = emit_reduce(instruction);
      return;
  }
}

// A choice in all lanes. In the sixteen of a reduction, where there are no masks, a truth that is
// the same in all of them is no part of a vector of truths, which would be packed into bytes and
// unpacked again for each choice (two thirds of the instructions of a sum over part of a row): it
// is a choice, and a branch, of its own. In the fewer lanes of a domain that takes longer.
Value* KernelCodegen::chosen(ValueId condition, Value* a, Value* b) {
  const Instruction& test = analysis_.definition(condition);
  const bool joins = test.code == Code::Primitive && is_varying(condition) && !host_.has_masks &&
                     lanes_.axis >= kernel_.domain_rank &&
                     (test.prim == Prim::And || test.prim == Prim::Or);
  for (std::size_t i = 0; joins && i < 2; ++i) {
    if (is_varying(test.args[i])) continue;
    Value* const by_lane = chosen(test.args[1 - i], a, b);
    Value* const common = operand(test.args[i], false);
    return test.prim == Prim::And ? b_.CreateSelect(common, by_lane, b)
                                  : b_.CreateSelect(common, a, by_lane);
  }
  return b_.CreateSelect(operand(condition, is_varying(condition)), a, b);
}

KernelCodegen::LaneValue KernelCodegen::emit_primitive(const Instruction& instruction) {
  const bool has_step = instruction.dtype == DType::Int64 && lanes_.axis >= 0 &&
                        analysis_.step(instruction.id, lanes_.axis).has_value();
  const bool as_vector = is_varying(instruction.id) && !has_step;
  if (as_vector && instruction.prim == Prim::Select) {
    Value* const a = operand(instruction.args[1], true);
    Value* const b = operand(instruction.args[2], true);
    return {nullptr, chosen(instruction.args[0], a, b)};
  }
  std::vector<Value*> args;
  for (const ValueId arg : instruction.args) args.push_back(operand(arg, as_vector));
  const DType operand_type = analysis_.definition(instruction.args.back()).dtype;
  Value* by_zero = nullptr;
  Value* const result =
      scalars(as_vector ? lanes_.width : 1)
          .primitive(instruction.prim, operand_type, instruction.dtype, args, by_zero);
  if (by_zero != nullptr && analysis_.may_fail(instruction))
    leave_if(by_zero, loops::kDivisionByZeroSite, int64(0), int64(0));
  return as_vector ? LaneValue{nullptr, result} : LaneValue{result, nullptr};
}

void KernelCodegen::leave_if(Value* failed, std::int32_t site, Value* index, Value* extent) {
  if (failed->getType()->isVectorTy()) {
    if (lanes_.mask != nullptr) failed = b_.CreateAnd(failed, lanes_.mask);
    failed = b_.CreateOrReduce(failed);
  }
  llvm::BasicBlock* const good = new_block("good");
  llvm::BasicBlock* const bad = fail_target_ != nullptr ? fail_target_ : new_block("bad");
  llvm::MDNode* const unlikely =
      llvm::MDBuilder(module_.getContext()).createBranchWeights(1, 1 << 20);
  b_.CreateCondBr(failed, bad, good, unlikely);
  if (fail_target_ == nullptr) {
    b_.SetInsertPoint(bad);
    Value* const error = function_->getArg(4);
    const auto field = [&](std::size_t offset, Value* value) {
      b_.CreateStore(value, b_.CreateConstGEP1_64(b_.getInt8Ty(), error, offset));
    };
    field(offsetof(loops::KernelError, site), b_.getInt32(static_cast<std::uint32_t>(site)));
    field(offsetof(loops::KernelError, index), index);
    field(offsetof(loops::KernelError, extent), extent);
    b_.CreateRet(b_.getInt32(1));
  }
  b_.SetInsertPoint(good);
}

}  // namespace relay::jit
