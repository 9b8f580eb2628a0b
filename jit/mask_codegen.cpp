#include <cstdlib>

#include "jit/kernel_codegen.h"

// Checks of indices, and loads that count only where masks are true. Most vectors lie inside of
// their tensor from end to end. An index that changes in steps shows that by its two ends, so code
// tests these and only where one of them is outside looks at each lane.
namespace relay::jit {

using lang::DType;
using llvm::Value;
using loops::Code;
using loops::Instruction;
using loops::ValueId;

namespace {

constexpr std::int64_t kLongestStep = std::int64_t{1} << 31;  // lanes do not wrap around
constexpr std::int64_t kFar = std::int64_t{1} << 60;

}  // namespace

Value* KernelCodegen::both(Value* a, Value* b) {
  if (a == nullptr || b == nullptr) return a != nullptr ? a : b;
  return b_.CreateAnd(a, b);
}

Value* KernelCodegen::is_in_range(ValueId index, const loops::Size& size, bool as_vector) {
  Value* const extent = size_value(size);
  // Unsigned, a negative index is a large one.
  return b_.CreateICmpULT(operand(index, as_vector), as_vector ? splat(extent) : extent);
}

// Is the index in range in all lanes, whether they count or not? Null where its ends do not tell.
Value* KernelCodegen::ends_in_range(ValueId index, const loops::Size& size) {
  if (!is_varying(index)) return is_in_range(index, size, false);
  const auto step = analysis_.step(index, lanes_.axis);
  Value* const first = values_[index].scalar;
  if (!step || std::abs(*step) > kLongestStep || first == nullptr) return nullptr;
  Value* const last = b_.CreateAdd(first, int64(*step * (lanes_.width - 1)));
  Value* const extent = size_value(size);
  return b_.CreateAnd(b_.CreateICmpULT(first, extent), b_.CreateICmpULT(last, extent));
}

// The same for any mask.
Value* KernelCodegen::holds_in_all_lanes(ValueId mask) {
  if (!is_varying(mask)) return operand(mask, false);
  const Instruction& instruction = analysis_.definition(mask);
  if (instruction.code != Code::InRange) return nullptr;
  return ends_in_range(instruction.args[0], instruction.size);
}

// Of a mask whose holding in all lanes is known: does it hold in none?
Value* KernelCodegen::fails_in_all_lanes(ValueId mask) {
  if (!is_varying(mask)) return b_.CreateNot(operand(mask, false));
  const Instruction& range = analysis_.definition(mask);
  const ValueId index = range.args[0];
  Value* const first = values_[index].scalar;
  const std::int64_t step = *analysis_.step(index, lanes_.axis) * (lanes_.width - 1);
  Value* const last = b_.CreateAdd(first, int64(step));
  Value* const extent = size_value(range.size);
  const auto both_are = [&](llvm::CmpInst::Predicate order, Value* bound) {
    return b_.CreateAnd(b_.CreateICmp(order, first, bound), b_.CreateICmp(order, last, bound));
  };
  // On one side, and not around the end of the numbers.
  Value* const is_near = b_.CreateICmpULT(b_.CreateAdd(first, int64(kFar)), int64(2 * kFar));
  return b_.CreateAnd(is_near, b_.CreateOr(both_are(llvm::CmpInst::ICMP_SLT, int64(0)),
                                           both_are(llvm::CmpInst::ICMP_SGE, extent)));
}

// That of an index in steps is computed where it is wanted: mostly its ends are enough.
KernelCodegen::LaneValue KernelCodegen::emit_range(const Instruction& instruction) {
  const ValueId index = instruction.args[0];
  if (!is_varying(index)) return {is_in_range(index, instruction.size, false), nullptr};
  if (values_[index].scalar != nullptr) return {};
  return {nullptr, is_in_range(index, instruction.size, true)};
}

KernelCodegen::LaneValue KernelCodegen::emit_check(const Instruction& instruction) {
  const ValueId index = instruction.args[0];
  const bool is_guarded = instruction.args.size() > 1;
  const bool as_vector = is_varying(instruction.id);
  const auto check = [&] {
    Value* failed = b_.CreateNot(is_in_range(index, instruction.size, as_vector));
    if (is_guarded) failed = b_.CreateAnd(failed, operand(instruction.args[1], as_vector));
    leave_if(failed, instruction.site, values_[index].scalar, size_value(instruction.size));
  };
  Value* is_inside = as_vector ? ends_in_range(index, instruction.size) : nullptr;
  for (const Instruction* turn : header_) {
    const bool is_same = turn->code == Code::InRange && turn->args[0] == index &&
                         turn->size == instruction.size && is_settled_[turn->id];
    if (is_same) is_inside = values_[turn->id].scalar;
  }
  if (is_inside != nullptr && llvm::isa<llvm::ConstantInt>(is_inside)) {
    if (llvm::cast<llvm::ConstantInt>(is_inside)->isZero()) check();
  } else if (is_inside != nullptr) {
    when(b_.CreateNot(is_inside), check);
  } else {
    check();
  }
  return values_[index];
}

// Where zeros can be read instead of what is masked.
Value* KernelCodegen::zero_place() {
  if (zero_ == nullptr) {
    llvm::Type* const type = b_.getInt64Ty();
    zero_ = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                     llvm::Constant::getNullValue(type), "zero");
  }
  return zero_;
}

KernelCodegen::LaneValue KernelCodegen::emit_masked_load(const Instruction& instruction) {
  const DType dtype = instruction.dtype;
  Place from = place(instruction.address, instruction.buffer);
  const auto load_one = [&](Value* condition) {
    Place one = from;
    one.pointer = b_.CreateSelect(condition, from.pointer, zero_place());
    return load_lanes(one, dtype);
  };
  if (!is_varying(instruction.id)) {
    Value* condition = nullptr;
    for (const ValueId mask : instruction.args) condition = both(condition, operand(mask, false));
    return {load_one(condition), nullptr};
  }
  const auto as_vector = [&](Value* value) {
    return value->getType()->isVectorTy() ? value : splat(value);
  };
  const bool is_one = from.offsets == nullptr && from.step == 0;
  const auto masked = [&]() -> Value* {
    const Lanes outer = lanes_;
    Value* mask = outer.mask;
    for (const ValueId each : instruction.args) mask = both(mask, operand(each, true));
    if (is_one) {
      Value* const one = splat(load_one(b_.CreateOrReduce(mask)));
      return b_.CreateSelect(mask, one, llvm::Constant::getNullValue(one->getType()));
    }
    lanes_.mask = mask;
    lanes_.count = nullptr;
    Value* const value = load_lanes(from, dtype);
    lanes_ = outer;
    return value;
  };
  Value* is_whole = nullptr;
  bool is_all_or_none = true;
  for (const ValueId mask : instruction.args) {
    Value* const holds = holds_in_all_lanes(mask);
    if (holds == nullptr) return {nullptr, masked()};
    is_whole = both(is_whole, holds);
    is_all_or_none &= !is_varying(mask);
  }
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(is_whole); known && known->isOne())
    return {nullptr, as_vector(load_lanes(from, dtype))};
  llvm::BasicBlock* const whole = new_block("whole");
  llvm::BasicBlock* const part = new_block("part");
  llvm::BasicBlock* const after = new_block("after");
  b_.CreateCondBr(is_whole, whole, part,
                  llvm::MDBuilder(module_.getContext()).createBranchWeights(1 << 20, 1));
  b_.SetInsertPoint(whole);
  Value* const all = as_vector(load_lanes(from, dtype));
  llvm::BasicBlock* const whole_end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(part);
  llvm::Constant* const zeros = llvm::Constant::getNullValue(all->getType());
  Value* some = zeros;
  llvm::BasicBlock* none_end = nullptr;
  if (!is_all_or_none) {
    Value* is_none = b_.getFalse();
    for (const ValueId mask : instruction.args)
      is_none = b_.CreateOr(is_none, fails_in_all_lanes(mask));
    none_end = part;
    llvm::BasicBlock* const few = new_block("few");
    b_.CreateCondBr(is_none, after, few);
    b_.SetInsertPoint(few);
    some = masked();
  }
  llvm::BasicBlock* const part_end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* const value = b_.CreatePHI(all->getType(), 3);
  value->addIncoming(all, whole_end);
  value->addIncoming(some, part_end);
  if (none_end != nullptr) value->addIncoming(zeros, none_end);
  return {nullptr, value};
}

}  // namespace relay::jit
