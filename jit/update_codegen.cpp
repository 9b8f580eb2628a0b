#include <algorithm>

#include "jit/kernel_codegen.h"

// Points where a kernel stores what it reads at the same place, as `if i > k { ... } else { a[i, j]
// }` does in all rows up to k. Where the result has taken the memory of what is read there, nothing
// need be done for them: to change a part of a tensor costs the part.
namespace relay::jit {

using lang::Prim;
using llvm::Value;
using loops::Code;
using loops::Instruction;
using loops::ValueId;

namespace {

bool may_be_same(const loops::Size& a, const loops::Size& b) {
  return a == b || !a.is_literal || !b.is_literal;
}

// But for sizes that are known when it runs.
bool may_be_same(const loops::Address& a, const loops::Address& b) {
  return may_be_same(a.offset, b.offset) &&
         std::ranges::equal(a.terms, b.terms, [](const auto& x, const auto& y) {
           return x.index == y.index && may_be_same(x.stride, y.stride);
         });
}

}  // namespace

Value* KernelCodegen::are_same(const loops::Address& a, const loops::Address& b) {
  Value* result = b_.CreateICmpEQ(size_value(a.offset), size_value(b.offset));
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    Value* const is_same =
        b_.CreateICmpEQ(size_value(a.terms[i].stride), size_value(b.terms[i].stride));
    result = b_.CreateAnd(result, is_same);
  }
  return result;
}

// Is the value known before the points along the axis are walked, and those within?
bool KernelCodegen::is_known_before(ValueId id, std::int32_t axis) const {
  const AxisSet walked = axis_bit(kernel_.domain_rank) - axis_bit(axis);
  return is_settled_[id] || (analysis_.depends(id) & walked) == 0;
}

// Under which condition the bool is `wanted` at all points along the axis; null: it is not known.
Value* KernelCodegen::condition_that(ValueId id, bool wanted, std::int32_t axis) {
  if (is_known_before(id, axis)) {
    Value* const value = values_[id].scalar;
    if (value == nullptr) return nullptr;
    return wanted ? value : b_.CreateNot(value);
  }
  const Instruction& instruction = analysis_.definition(id);
  if (instruction.code != Code::Primitive) return nullptr;
  const auto of = [&](std::size_t arg, bool is_true) {
    return condition_that(instruction.args[arg], is_true, axis);
  };
  switch (instruction.prim) {
    case Prim::Not:
      return of(0, !wanted);
    case Prim::And:
      return wanted ? both_known(of(0, true), of(1, true))
                    : either_known(of(0, false), of(1, false));
    case Prim::Or:
      return wanted ? either_known(of(0, true), of(1, true))
                    : both_known(of(0, false), of(1, false));
    default:
      return nullptr;
  }
}

Value* KernelCodegen::both_known(Value* a, Value* b) {
  return a == nullptr || b == nullptr ? nullptr : b_.CreateAnd(a, b);
}

Value* KernelCodegen::either_known(Value* a, Value* b) {
  if (a == nullptr) return b;
  return b == nullptr ? a : b_.CreateOr(a, b);
}

// Under which condition the value is, at all points along the axis, what `buffer` holds where it is
// stored; null: never, as far as is known.
Value* KernelCodegen::condition_of_same(ValueId id, std::int32_t buffer, std::int32_t axis) {
  const Instruction& instruction = analysis_.definition(id);
  if (instruction.code == Code::Load) {
    if (instruction.buffer != buffer || !may_be_same(instruction.address, kernel_.destination))
      return nullptr;
    Value* condition = are_same(instruction.address, kernel_.destination);
    for (const ValueId mask : instruction.args)
      condition = both_known(condition, condition_that(mask, true, axis));
    return condition;
  }
  if (instruction.code != Code::Primitive || instruction.prim != Prim::Select) return nullptr;
  const ValueId choice = instruction.args[0];
  Value* const first = condition_of_same(instruction.args[1], buffer, axis);
  Value* const second = condition_of_same(instruction.args[2], buffer, axis);
  Value* const both = both_known(first, second);
  Value* const taken = both_known(first, condition_that(choice, true, axis));
  Value* const other = both_known(second, condition_that(choice, false, axis));
  return either_known(both, either_known(taken, other));
}

// Under which condition nothing fails at the points along the axis; null: it is not known.
Value* KernelCodegen::condition_of_safety(std::int32_t axis) {
  Value* condition = b_.getTrue();
  for (const Instruction& instruction : kernel_.regions[0].code) {
    if (is_known_before(instruction.id, axis)) continue;
    const bool is_checked = instruction.code == Code::CheckIndex;
    // What a reduction holds is not looked at.
    if (instruction.code == Code::Reduce && analysis_.can_fail()) return nullptr;
    if (!is_checked && !analysis_.may_fail(instruction)) continue;
    if (!is_checked || instruction.args.size() < 2) return nullptr;
    condition = both_known(condition, condition_that(instruction.args[1], false, axis));
  }
  return condition;
}

// The buffer of another tensor whose elements the kernel may store as they are; -1: none.
std::int32_t KernelCodegen::updated_buffer() const {
  if (kernel_.store != loops::StoreKind::Assign || !kernel_.further.empty()) return -1;
  for (const Instruction& instruction : kernel_.regions[0].code) {
    const bool is_one = instruction.code == Code::Load && instruction.buffer != kernel_.output &&
                        instruction.dtype == kernel_.buffers[kernel_.output].dtype &&
                        may_be_same(instruction.address, kernel_.destination);
    if (is_one) return instruction.buffer;
  }
  return -1;
}

// Emits the points along the axis by `emit`, which are passed over where they stay what they are.
void KernelCodegen::emit_changes(std::int32_t axis, const std::function<void()>& emit) {
  const std::int32_t buffer = updated_buffer();
  Value* same = buffer < 0 ? nullptr : condition_of_same(kernel_.regions[0].result, buffer, axis);
  if (same != nullptr) same = both_known(same, condition_of_safety(axis));
  if (same == nullptr) {
    emit();
    return;
  }
  Value* const is_in_place = b_.CreateICmpEQ(buffers_[buffer], buffers_[kernel_.output]);
  when(b_.CreateNot(b_.CreateAnd(is_in_place, same)), emit);
}

}  // namespace relay::jit
