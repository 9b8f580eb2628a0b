#include <algorithm>
#include <cstdlib>

#include "jit/kernel_codegen.h"

// A comparison of indices, such as `i > 0`, has one outcome for most of a loop: along an axis it
// turns once or twice. So the points of the lane axis are walked in segments in which none turns.
// Within one, the outcomes are scalars that are computed before its loop: what a program excepts at
// the ends of a row costs nothing within it.
namespace relay::jit {

using lang::DType;
using lang::Prim;
using llvm::Value;
using loops::Code;
using loops::Instruction;
using loops::ValueId;

namespace {

constexpr std::size_t kMostTurns = 12;
constexpr std::int64_t kLongestRun = std::int64_t{1} << 30;
constexpr std::int64_t kLongestTurningStep = std::int64_t{1} << 20;
// Numbers below this do not wrap around in a run.
constexpr std::int64_t kSmall = std::int64_t{1} << 60;

}  // namespace

// Does the int64 value change in steps along the axis, as far as instructions say that can be
// computed anywhere?
bool KernelCodegen::is_in_steps(ValueId id, std::int32_t axis) {
  const Instruction& instruction = analysis_.definition(id);
  if (instruction.dtype != DType::Int64) return false;
  if ((analysis_.depends(id) & axis_bit(axis)) == 0) return true;
  const auto step = analysis_.step(id, axis);
  if (!step || std::abs(*step) > kLongestTurningStep) return false;
  if (instruction.code == Code::Axis) return true;
  return instruction.code == Code::Primitive &&
         std::all_of(instruction.args.begin(), instruction.args.end(),
                     [&](ValueId arg) { return is_in_steps(arg, axis); });
}

bool KernelCodegen::has_turns(const Instruction& instruction, std::int32_t axis) {
  if (instruction.code == Code::InRange) return is_in_steps(instruction.args[0], axis);
  if (instruction.code != Code::Primitive) return false;
  switch (instruction.prim) {
    case Prim::Eq:
    case Prim::Ne:
    case Prim::Lt:
    case Prim::Le:
    case Prim::Gt:
    case Prim::Ge: {
      const ValueId a = instruction.args[0];
      const ValueId b = instruction.args[1];
      return is_in_steps(a, axis) && is_in_steps(b, axis) &&
             analysis_.step(a, axis) != analysis_.step(b, axis);
    }
    default:
      return false;
  }
}

// The conditions of the body that turn along the axis, what follows from them alone, and what they
// are computed from.
void KernelCodegen::find_turns(std::int32_t axis) {
  turns_.clear();
  header_.clear();
  std::fill(is_settled_.begin(), is_settled_.end(), false);
  std::vector<bool> is_settled(is_settled_.size(), false);
  std::vector<bool> is_wanted(is_settled_.size(), false);
  const loops::Region& body = kernel_.regions[0];
  const AxisSet within = axis_bit(kernel_.domain_rank) - axis_bit(axis + 1);  // axes that are inner
  for (const Instruction& instruction : body.code) {
    const AxisSet depends = analysis_.depends(instruction.id);
    if ((depends & axis_bit(axis)) == 0 || (depends & within) != 0 ||
        instruction.dtype != DType::Bool)
      continue;
    const bool is_logic =
        instruction.code == Code::Primitive &&
        analysis_.definition(instruction.args.back()).dtype == DType::Bool &&
        std::all_of(instruction.args.begin(), instruction.args.end(), [&](ValueId arg) {
          return is_settled[arg] || (analysis_.depends(arg) & axis_bit(axis)) == 0;
        });
    const bool turns = turns_.size() < kMostTurns && has_turns(instruction, axis);
    if (turns) turns_.push_back(&instruction);
    is_settled[instruction.id] = is_logic || turns;
    is_wanted[instruction.id] = is_settled[instruction.id];
  }
  if (turns_.empty()) return;
  for (auto it = body.code.rbegin(); it != body.code.rend(); ++it) {
    if (!is_wanted[it->id]) continue;
    for (const ValueId arg : it->args)
      if ((analysis_.depends(arg) & axis_bit(axis)) != 0) is_wanted[arg] = true;
  }
  for (const Instruction& instruction : body.code) {
    if (is_wanted[instruction.id]) header_.push_back(&instruction);
  }
  is_settled_ = is_settled;
}

Value* KernelCodegen::is_small(Value* value) {
  return b_.CreateICmpULT(b_.CreateAdd(value, int64(kSmall)), int64(2 * kSmall));
}

// In how many steps a value turns from negative to not negative, or back.
Value* KernelCodegen::until_sign(Value* value, std::int64_t step) {
  Value* const is_negative = b_.CreateICmpSLT(value, int64(0));
  if (step < 0) {
    Value* const count = b_.CreateAdd(b_.CreateSDiv(value, int64(-step)), int64(1));
    return b_.CreateSelect(is_negative, int64(kLongestRun), count);
  }
  Value* const count = b_.CreateSDiv(b_.CreateSub(int64(step - 1), value), int64(step));
  return b_.CreateSelect(is_negative, count, int64(kLongestRun));
}

// In how many steps a value turns to 0, or passes it; or from 0 to another.
Value* KernelCodegen::until_zero(Value* value, std::int64_t step) {
  Value* const distance = step < 0 ? value : b_.CreateNeg(value);
  Value* const size = int64(std::abs(step));
  Value* const count = b_.CreateSDiv(b_.CreateAdd(distance, int64(std::abs(step) - 1)), size);
  Value* const nears =
      b_.CreateSelect(b_.CreateICmpSGT(distance, int64(0)), count, int64(kLongestRun));
  return b_.CreateSelect(b_.CreateICmpEQ(value, int64(0)), int64(1), nears);
}

// For how many points, at least, the condition stays what it is at the current one.
Value* KernelCodegen::run_length(const Instruction& instruction, std::int32_t axis) {
  const auto shorter = [&](Value* a, Value* b) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  };
  const ValueId left = instruction.args[0];
  Value* const a = values_[left].scalar;
  if (instruction.code == Code::InRange) {
    const std::int64_t step = *analysis_.step(left, axis);
    Value* const above = b_.CreateSub(a, size_value(instruction.size));
    Value* const count = shorter(until_sign(a, step), until_sign(above, step));
    return b_.CreateSelect(is_small(a), count, int64(1));
  }
  const ValueId right = instruction.args[1];
  Value* const b = values_[right].scalar;
  const std::int64_t step = *analysis_.step(left, axis) - *analysis_.step(right, axis);
  Value* const difference = b_.CreateSub(a, b);
  Value* count = nullptr;
  switch (instruction.prim) {
    case Prim::Lt:
    case Prim::Ge:
      count = until_sign(difference, step);
      break;
    case Prim::Le:
    case Prim::Gt:
      count = until_sign(b_.CreateSub(difference, int64(1)), step);
      break;
    default:
      count = until_zero(difference, step);
      break;
  }
  return b_.CreateSelect(b_.CreateAnd(is_small(a), is_small(b)), count, int64(1));
}

// What a settled condition is in most of a row: between its ends, and beside a place of its own.
bool KernelCodegen::is_expected(ValueId id) {
  const Instruction& instruction = analysis_.definition(id);
  if (!is_settled_[id] || instruction.code != Code::Primitive) return true;
  switch (instruction.prim) {
    case Prim::Eq:
      return false;
    case Prim::Not:
      return !is_expected(instruction.args[0]);
    case Prim::And:
      return is_expected(instruction.args[0]) && is_expected(instruction.args[1]);
    case Prim::Or:
      return is_expected(instruction.args[0]) || is_expected(instruction.args[1]);
    default:
      return true;
  }
}

// The points of a segment, twice: where the settled conditions are what they are in most of a row,
// and are constants, and for the rest.
void KernelCodegen::emit_expected(std::int32_t axis, Value* begin, Value* end) {
  const auto settled = [&](auto use) {
    for (const Instruction* instruction : header_) {
      if (is_settled_[instruction->id]) use(instruction->id, values_[instruction->id].scalar);
    }
  };
  std::vector<LaneValue> before(values_);
  Value* is_usual = b_.getTrue();
  settled([&](ValueId id, Value*& value) {
    is_usual = b_.CreateAnd(is_usual, is_expected(id) ? value : b_.CreateNot(value));
  });
  llvm::BasicBlock* const usual = new_block("usual");
  llvm::BasicBlock* const unusual = new_block("unusual");
  llvm::BasicBlock* const after = new_block("after");
  b_.CreateCondBr(is_usual, usual, unusual);
  b_.SetInsertPoint(usual);
  settled([&](ValueId id, Value*& value) { value = b_.getInt1(is_expected(id)); });
  emit_lanes(axis, begin, end, {});
  b_.CreateBr(after);
  b_.SetInsertPoint(unusual);
  values_ = before;
  emit_lanes(axis, begin, end, {});
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void KernelCodegen::emit_segments(std::int32_t axis, Value* begin, Value* end) {
  const auto settle = [&](bool is_settled) {
    for (const Instruction* instruction : header_) {
      if (is_settled_[instruction->id]) is_hoisted_[instruction->id] = is_settled;
    }
  };
  llvm::AllocaInst* const first = new_cell(b_.getInt64Ty(), "first");
  b_.CreateStore(begin, first);
  llvm::BasicBlock* const head = new_block("segments");
  llvm::BasicBlock* const segment = new_block("segment");
  llvm::BasicBlock* const after = new_block("after");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  Value* const at = b_.CreateLoad(b_.getInt64Ty(), first);
  b_.CreateCondBr(b_.CreateICmpSLT(at, end), segment, after);
  b_.SetInsertPoint(segment);
  axis_index_[axis] = at;
  for (const Instruction* instruction : header_) emit_instruction(*instruction);
  Value* run = b_.CreateSub(end, at);
  for (const Instruction* turn : turns_) {
    run = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, run, run_length(*turn, axis));
  }
  Value* const next = b_.CreateAdd(at, run);
  settle(true);
  emit_changes(axis, [&] { emit_expected(axis, at, next); });
  settle(false);
  std::fill(is_settled_.begin(), is_settled_.end(), false);
  turns_.clear();
  b_.CreateStore(next, first);
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
}

}  // namespace relay::jit
