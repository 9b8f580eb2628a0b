#include "jit/kernel_codegen.h"
#include "lang/comparison.h"

// Of a sum such as `sum j < n { if j > i { x[j] } else { 0.0 } }` most elements may be 0 because an
// index is compared: a triangle, a band, what is behind a step of elimination. Adding 0 changes no
// bit of a sum that began with 0, so its loop goes only over the part of the axis where an element
// may be another number.
namespace relay::jit {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;
using llvm::Value;
using loops::Code;
using loops::Instruction;
using loops::kReductionBlock;
using loops::kReductionLanes;
using loops::Region;
using loops::ValueId;

namespace {

constexpr int kMostValues = 48;                          // that are looked at for one sum
constexpr std::int64_t kBeyond = std::int64_t{1} << 60;  // any axis

}  // namespace

KernelCodegen::Part KernelCodegen::in_both(const Part& a, const Part& b) {
  if (a.kind == Part::None || b.kind == Part::All) return a;
  if (b.kind == Part::None || a.kind == Part::All) return b;
  return {Part::Some, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a.begin, b.begin),
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a.end, b.end)};
}

// And what is between them.
KernelCodegen::Part KernelCodegen::in_either(const Part& a, const Part& b) {
  if (a.kind == Part::All || b.kind == Part::None) return a;
  if (b.kind == Part::All || a.kind == Part::None) return b;
  // An empty part has no place between the ends of the other.
  const auto end = [&](const Part& part, Value* own, Value* other) {
    return b_.CreateSelect(b_.CreateICmpSLT(part.begin, part.end), own, other);
  };
  return {
      Part::Some,
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end(a, a.begin, b.begin),
                               end(b, b.begin, a.begin)),
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, end(a, a.end, b.end), end(b, b.end, a.end))};
}

// What the value is added to the index of the axis to give, if it is the index and something more.
Value* KernelCodegen::beyond_index(ValueId id, std::int32_t axis) {
  const Instruction& instruction = analysis_.definition(id);
  if (instruction.code == Code::Axis) return instruction.axis == axis ? int64(0) : nullptr;
  if (instruction.code != Code::Primitive || instruction.dtype != DType::Int64) return nullptr;
  const auto changes = [&](ValueId each) {
    return (analysis_.depends(each) & axis_bit(axis)) != 0;
  };
  const bool adds = instruction.prim == Prim::Add;
  if (!adds && instruction.prim != Prim::Sub) return nullptr;
  const ValueId left = instruction.args[0];
  const ValueId right = instruction.args[1];
  const bool is_left = changes(left) && !changes(right) && !is_varying(right);
  const bool is_right = adds && changes(right) && !changes(left) && !is_varying(left);
  if (!is_left && !is_right) return nullptr;
  Value* const inner = beyond_index(is_left ? left : right, axis);
  if (inner == nullptr) return nullptr;
  Value* const more = values_[is_left ? right : left].scalar;
  if (more == nullptr) return nullptr;
  return adds ? b_.CreateAdd(inner, more) : b_.CreateSub(inner, more);
}

// Where the comparison with the index may hold.
KernelCodegen::Part KernelCodegen::where_compared(const Instruction& comparison, bool wanted,
                                                  std::int32_t axis) {
  if (analysis_.definition(comparison.args[0]).dtype != DType::Int64) return {};
  const bool is_left = (analysis_.depends(comparison.args[0]) & axis_bit(axis)) != 0;
  const ValueId index = comparison.args[is_left ? 0 : 1];
  const ValueId bound = comparison.args[is_left ? 1 : 0];
  if ((analysis_.depends(bound) & axis_bit(axis)) != 0 || is_varying(bound)) return {};
  Prim order = wanted ? comparison.prim : lang::negated(comparison.prim);
  if (!is_left) order = lang::mirrored(order);
  Value* const offset = order == Prim::Ne ? nullptr : beyond_index(index, axis);
  if (offset == nullptr || values_[bound].scalar == nullptr) return {};
  Value* const at = b_.CreateSub(values_[bound].scalar, offset);
  // Numbers that wrap around say nothing.
  Value* const is_known = b_.CreateAnd(is_small(values_[bound].scalar), is_small(offset));
  const auto known = [&](Value* end, std::int64_t otherwise) {
    return b_.CreateSelect(is_known, end, int64(otherwise));
  };
  Value* const behind = b_.CreateAdd(at, int64(1));
  const bool begins = order == Prim::Gt || order == Prim::Ge || order == Prim::Eq;
  const bool ends = order == Prim::Lt || order == Prim::Le || order == Prim::Eq;
  return {Part::Some, begins ? known(order == Prim::Gt ? behind : at, -kBeyond) : int64(-kBeyond),
          ends ? known(order == Prim::Lt ? at : behind, kBeyond) : int64(kBeyond)};
}

// Where the condition may be what is wanted.
KernelCodegen::Part KernelCodegen::where_holds(ValueId condition, bool wanted, std::int32_t axis,
                                               int& budget) {
  if (--budget < 0) return {};
  const Instruction& instruction = analysis_.definition(condition);
  if (instruction.code == Code::Constant)
    return {(instruction.bits != 0) == wanted ? Part::All : Part::None};
  if ((analysis_.depends(condition) & axis_bit(axis)) == 0) {
    Value* const holds = values_[condition].scalar;
    if (is_varying(condition) || holds == nullptr) return {};
    Value* const end = wanted ? b_.CreateSelect(holds, int64(kBeyond), int64(-kBeyond))
                              : b_.CreateSelect(holds, int64(-kBeyond), int64(kBeyond));
    return {Part::Some, int64(-kBeyond), end};
  }
  if (instruction.code != Code::Primitive) return {};
  const auto arg = [&](std::size_t i, bool value) {
    return where_holds(instruction.args[i], value, axis, budget);
  };
  switch (instruction.prim) {
    case Prim::Not:
      return arg(0, !wanted);
    case Prim::And:
      return wanted ? in_both(arg(0, true), arg(1, true)) : in_either(arg(0, false), arg(1, false));
    case Prim::Or:
      return wanted ? in_either(arg(0, true), arg(1, true)) : in_both(arg(0, false), arg(1, false));
    case Prim::Select:
      return in_either(in_both(arg(0, true), arg(1, wanted)),
                       in_both(arg(0, false), arg(2, wanted)));
    default:
      return lang::is_comparison(instruction.prim) ? where_compared(instruction, wanted, axis)
                                                   : Part{};
  }
}

// Where the value may be another number than 0.
KernelCodegen::Part KernelCodegen::where_not_zero(ValueId id, std::int32_t axis, int& budget) {
  if (--budget < 0) return {};
  const Instruction& instruction = analysis_.definition(id);
  if (instruction.code == Code::Constant) return {instruction.bits == 0 ? Part::None : Part::All};
  if (instruction.code != Code::Primitive) return {};
  const auto arg = [&](std::size_t i) { return where_not_zero(instruction.args[i], axis, budget); };
  switch (instruction.prim) {
    case Prim::Neg:
    case Prim::Cast:
      return arg(0);
    case Prim::Add:
    case Prim::Sub: {
      const Part left = arg(0);
      return left.kind == Part::All ? left : in_either(left, arg(1));
    }
    case Prim::Select: {
      const auto branch = [&](std::size_t i, bool taken) {
        const Part own = arg(i);
        if (own.kind == Part::None) return own;
        return in_both(where_holds(instruction.args[0], taken, axis, budget), own);
      };
      return in_either(branch(1, true), branch(2, false));
    }
    default:
      return {};
  }
}

// The part of a sum's last axis outside of which its elements are 0, and nothing fails: all of it,
// or from a begin to an end. Values that do not change along it are known.
KernelCodegen::Part KernelCodegen::busy_part(const Region& region) {
  const std::int32_t axis = region.axes.back();
  if (region.op != ReduceOp::Sum || analysis_.is_unit(axis)) return {};
  int budget = kMostValues;
  Part part = where_not_zero(region.result, axis, budget);
  for (const Instruction& instruction : region.code) {
    if (part.kind == Part::All) break;
    if ((analysis_.depends(instruction.id) & axis_bit(axis)) == 0) continue;
    if (instruction.code == Code::CheckIndex) {
      part = instruction.args.size() < 2
                 ? Part{}
                 : in_either(part, where_holds(instruction.args[1], true, axis, budget));
    } else if (analysis_.may_fail(instruction) ||
               (instruction.code == Code::Reduce && analysis_.can_fail())) {
      part = {};
    }
  }
  return part.kind == Part::None ? Part{Part::Some, int64(0), int64(0)} : part;
}

// [begin, end) without the rounds of 16, from `begin` on, that lie outside of the part.
std::pair<Value*, Value*> KernelCodegen::rounds_in(const Part& part, Value* begin, Value* end) {
  if (part.kind == Part::All) return {begin, end};
  const auto smaller = [&](Value* a, Value* b) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  };
  const auto larger = [&](Value* a, Value* b) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
  };
  const auto whole = [&](Value* count) { return b_.CreateAnd(count, int64(-kReductionLanes)); };
  Value* const idle = b_.CreateSub(smaller(larger(part.begin, begin), end), begin);
  Value* const first = b_.CreateAdd(begin, whole(idle));
  Value* const busy = b_.CreateSub(larger(part.end, first), first);
  Value* const rounds = whole(b_.CreateAdd(busy, int64(kReductionLanes - 1)));
  return {first, smaller(b_.CreateAdd(first, rounds), end)};
}

// Of a row of elements [row, row_end), numbered over all axes: the rounds of 16 in its part, and
// the ends of blocks, which are at multiples of 16 as well.
void KernelCodegen::busy_rounds(const Region& region, const Part& part, Value* row, Value* row_end,
                                const std::function<void(Value*)>& round,
                                const std::function<void(Value*)>& close_block) {
  Value* const begin = b_.CreateAdd(row, part.begin);
  Value* const end = b_.CreateAdd(row, part.end);
  llvm::AllocaInst* const at = new_cell(b_.getInt64Ty(), "round");
  llvm::BasicBlock* const head = new_block("rounds");
  llvm::BasicBlock* const body = new_block("round");
  llvm::BasicBlock* const after = new_block("after");
  b_.CreateStore(b_.CreateAnd(row, int64(-kReductionLanes)), at);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  Value* const first = b_.CreateLoad(b_.getInt64Ty(), at);
  b_.CreateCondBr(b_.CreateICmpSLT(first, row_end), body, after);
  b_.SetInsertPoint(body);
  Value* const following = b_.CreateAdd(first, int64(kReductionLanes));
  Value* const is_before = b_.CreateICmpSLE(following, begin);
  Value* const is_busy = b_.CreateAnd(b_.CreateNot(is_before), b_.CreateICmpSLT(first, end));
  // Else to where the part begins, or the row ends, but not over the end of a block.
  Value* const idle =
      b_.CreateSelect(is_before, b_.CreateAnd(begin, int64(-kReductionLanes)), row_end);
  Value* const far =
      has_blocks(region)
          ? b_.CreateBinaryIntrinsic(
                llvm::Intrinsic::smin, idle,
                b_.CreateAdd(b_.CreateAnd(first, int64(-kReductionBlock)), int64(kReductionBlock)))
          : idle;
  Value* const next = b_.CreateSelect(is_busy, following, far);
  when(is_busy, [&] { round(first); });
  close_block(next);
  poll();
  b_.CreateStore(next, at);
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
}

}  // namespace relay::jit
