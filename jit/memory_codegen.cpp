#include <algorithm>
#include <numeric>

#include "jit/kernel_codegen.h"

namespace relay::jit {

using lang::DType;
using llvm::Value;
using loops::AddressTerm;
using loops::Code;
using loops::Instruction;

llvm::Type* KernelCodegen::memory_type(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return b_.getInt8Ty();
    case DType::Float16:
    case DType::BFloat16:
      return b_.getInt16Ty();
    default:
      return scalars(1).type(dtype);
  }
}

KernelCodegen::Place KernelCodegen::place(const loops::Address& address, std::int32_t buffer) {
  // Outer indices first, so that the start of the sum can leave the inner loops.
  std::vector<AddressTerm> terms = address.terms;
  std::stable_sort(terms.begin(), terms.end(), [&](const AddressTerm& a, const AddressTerm& b) {
    return analysis_.depends(a.index) < analysis_.depends(b.index);
  });
  Value* first = size_value(address.offset);
  Value* offsets = nullptr;  // by lane, what the constant steps do not cover
  std::int64_t step = 0;
  Value* stride = int64(0);  // null where an index is another matter in each lane
  const auto add_offsets = [&](Value* more) {
    offsets = offsets ? b_.CreateAdd(offsets, more) : more;
  };
  for (const AddressTerm& term : terms) {
    Value* const term_stride = size_value(term.stride);
    const LaneValue& index = values_[term.index];
    if (index.scalar == nullptr) {
      add_offsets(b_.CreateMul(index.vector, splat(term_stride)));
      stride = nullptr;
      continue;
    }
    first = b_.CreateAdd(first, b_.CreateMul(index.scalar, term_stride));
    if (!is_varying(term.index)) continue;
    const std::int64_t index_step = *analysis_.step(term.index, lanes_.axis);
    Value* const lane_step = b_.CreateMul(term_stride, int64(index_step));
    if (term.stride.is_literal) {
      step += index_step * term.stride.value;
    } else {
      add_offsets(b_.CreateMul(lane_numbers(lanes_.width), splat(lane_step)));
    }
    if (stride != nullptr) stride = b_.CreateAdd(stride, lane_step);
  }
  if (offsets != nullptr && step != 0) {
    add_offsets(b_.CreateMul(lane_numbers(lanes_.width), splat(int64(step))));
  }
  Place result;
  result.pointer =
      b_.CreateGEP(memory_type(kernel_.buffers[buffer].dtype), buffers_[buffer], first);
  result.step = step;
  result.offsets = offsets;
  result.stride = stride;
  return result;
}

KernelCodegen::LaneValue KernelCodegen::emit_load(const Instruction& instruction) {
  if (!instruction.args.empty()) return emit_masked_load(instruction);
  if (is_varying(instruction.id) && reads_row(instruction)) {
    if (Value* const column = load_in_row(instruction)) return {nullptr, column};
  }
  const Place from = place(instruction.address, instruction.buffer);
  Value* const value = load_lanes(from, instruction.dtype, stays(instruction));
  if (!is_varying(instruction.id)) return {value, nullptr};
  return {nullptr, value->getType()->isVectorTy() ? value : splat(value)};
}

// May LLVM take it that nothing is stored to what is read? An output takes the place only of what
// is read at the very point that it is stored at (loops/reuse.h). So it is not in the place of what
// is read at several points, and of what is read at one, all is read before, if there is one
// output.
bool KernelCodegen::stays(const Instruction& load) const {
  if (company_ != Company::Alone || kernel_.store != loops::StoreKind::Assign) return false;
  if (kernel_.further.empty()) return true;
  for (std::int32_t axis = 0; axis < kernel_.domain_rank; ++axis) {
    if (!analysis_.is_unit(axis) && (analysis_.depends(load.id) & axis_bit(axis)) == 0) return true;
  }
  return false;
}

Value* KernelCodegen::all_lanes() {
  return lanes_.mask != nullptr ? lanes_.mask : splat(b_.getTrue());
}

Value* KernelCodegen::pointers(const Place& place, DType dtype) {
  Value* offsets = place.offsets;
  if (offsets == nullptr) {
    offsets = b_.CreateMul(lane_numbers(lanes_.width), splat(int64(place.step)));
  }
  return b_.CreateGEP(memory_type(dtype), place.pointer, offsets);
}

// Of one element, or of some side by side. Where `stays`, nothing is stored to what is read.
llvm::LoadInst* KernelCodegen::load_of_memory(llvm::Type* type, Value* from, DType dtype,
                                              bool stays) {
  llvm::LoadInst* const made = b_.CreateAlignedLoad(type, from, llvm::Align(lang::size_of(dtype)));
  if (stays)
    made->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return made;
}

// Of a lane that counts, at one stride from its neighbours; else of lane 0, as behind the last lane
// that counts there may be nothing to read.
Value* KernelCodegen::at_stride(const Place& place, DType dtype, int lane) {
  if (lane == 0) return place.pointer;
  Value* const offset = b_.CreateMul(place.stride, int64(lane));
  Value* const at = b_.CreateGEP(memory_type(dtype), place.pointer, offset);
  if (lanes_.count == nullptr) return at;
  return b_.CreateSelect(b_.CreateICmpSGT(lanes_.count, int64(lane)), at, place.pointer);
}

// A scalar when all lanes are in one place.
Value* KernelCodegen::load_lanes(const Place& place, DType dtype, bool stays) {
  llvm::Type* const element = memory_type(dtype);
  const auto load = [&](llvm::Type* type, Value* from) {
    return load_of_memory(type, from, dtype, stays);
  };
  if (place.offsets == nullptr && place.step == 0)
    return scalars(1).from_memory(load(element, place.pointer), dtype);
  const llvm::Align align(lang::size_of(dtype));
  auto* const type = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_.width));
  ScalarCodegen scalar = scalars(lanes_.width);
  const bool is_along = place.offsets == nullptr && (place.step == 1 || place.step == -1);
  if (!is_along && place.stride != nullptr && lanes_.are_first() && !host_.has_quick_gathers) {
    Value* loaded = llvm::PoisonValue::get(type);
    for (int lane = 0; lane < lanes_.width; ++lane) {
      Value* const at = at_stride(place, dtype, lane);
      loaded = b_.CreateInsertElement(loaded, load(element, at), static_cast<std::uint64_t>(lane));
    }
    return scalar.from_memory(loaded, dtype);
  }
  if (!is_along) {
    Value* from = pointers(place, dtype);
    Value* mask = all_lanes();
    // In place of a branch for each lane.
    if (lanes_.mask != nullptr && !host_.has_masks) {
      from = b_.CreateSelect(mask, from, splat(zero_place()));
      mask = splat(b_.getTrue());
    }
    llvm::CallInst* const gathered =
        b_.CreateMaskedGather(type, from, align, mask, llvm::Constant::getNullValue(type));
    // As far as LLVM is told: then it may leave a loop that stores.
    if (stays) gathered->setDoesNotAccessMemory();
    return scalar.from_memory(gathered, dtype);
  }
  // Backwards: the vector ends in lane 0's place.
  const bool is_backwards = place.step == -1;
  Value* const start =
      is_backwards ? b_.CreateGEP(element, place.pointer, int64(1 - lanes_.width)) : place.pointer;
  Value* loaded = nullptr;
  if (lanes_.mask == nullptr) {
    loaded = load(type, start);
  } else {
    Value* const mask = is_backwards ? b_.CreateVectorReverse(lanes_.mask) : lanes_.mask;
    loaded = b_.CreateMaskedLoad(type, start, align, mask, llvm::Constant::getNullValue(type));
  }
  return scalar.from_memory(is_backwards ? b_.CreateVectorReverse(loaded) : loaded, dtype);
}

// Does it read where it may store, row by row: an element of a tensor that it changes, or of one
// that it may be given as the result, too?
bool KernelCodegen::reads_rows_as_stored(DType dtype) {
  if (kernel_.store == loops::StoreKind::Combine) return true;
  const std::vector<Instruction>& code = kernel_.regions[0].code;
  return std::any_of(code.begin(), code.end(), [&](const Instruction& each) {
    return each.code == Code::Load && kernel_.buffers[each.buffer].dtype == dtype &&
           analysis_.step(each.address, lanes_.axis) == 1;
  });
}

// So many of the first lanes of a vector, fewer than all, by stores that cover them and nothing
// else. Where a store under a mask is under way, a load of what stands behind its last lane, as the
// next row does, waits until it is done: 6.2 ns for each row of ten float64, and 0.9 by pieces
// (AMD Zen 5).
void KernelCodegen::store_first(Value* to, Value* value, Value* count) {
  auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  llvm::Type* const element = type->getElementType();
  const llvm::Align align(element->getScalarSizeInBits() / 8);
  for (int piece = static_cast<int>(type->getNumElements()) / 2; piece > 0; piece /= 2) {
    const auto half = [&](int first) {
      if (piece == 1) return b_.CreateExtractElement(value, static_cast<std::uint64_t>(first));
      std::vector<int> lanes(static_cast<std::size_t>(piece));
      std::iota(lanes.begin(), lanes.end(), first);
      return b_.CreateShuffleVector(value, lanes);
    };
    Value* const low = half(0);
    Value* const high = half(piece);
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    llvm::BasicBlock* const stored = new_block("piece");
    llvm::BasicBlock* const after = new_block("after_piece");
    b_.CreateCondBr(b_.CreateIsNotNull(b_.CreateAnd(count, int64(piece))), stored, after);
    b_.SetInsertPoint(stored);
    b_.CreateAlignedStore(low, to, align);
    Value* const behind = b_.CreateGEP(element, to, int64(piece));
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    if (piece == 1) return;
    const auto merged = [&](Value* if_stored, Value* if_not) {
      llvm::PHINode* const phi = b_.CreatePHI(if_not->getType(), 2);
      phi->addIncoming(if_stored, stored);
      phi->addIncoming(if_not, before);
      return phi;
    };
    Value* const next = merged(behind, to);
    value = merged(high, low);
    to = next;
  }
}

void KernelCodegen::store_lanes(const Place& place, DType dtype, Value* value) {
  const llvm::Align align(lang::size_of(dtype));
  const int width = value->getType()->isVectorTy() ? lanes_.width : 1;
  Value* const stored = scalars(width).to_memory(value, dtype);
  const bool is_along = place.offsets == nullptr && place.step == 1;
  if (width > 1 && !is_along && place.stride != nullptr && lanes_.mask == nullptr &&
      !host_.has_quick_gathers) {
    for (int lane = 0; lane < width; ++lane) {
      Value* const element = b_.CreateExtractElement(stored, static_cast<std::uint64_t>(lane));
      b_.CreateAlignedStore(element, at_stride(place, dtype, lane), align);
    }
  } else if (width > 1 && !is_along) {
    b_.CreateMaskedScatter(stored, pointers(place, dtype), align, all_lanes());
  } else if (width > 1 && lanes_.count != nullptr && reads_rows_as_stored(dtype)) {
    store_first(place.pointer, stored, lanes_.count);
  } else if (width > 1 && lanes_.mask != nullptr) {
    b_.CreateMaskedStore(stored, place.pointer, align, lanes_.mask);
  } else {
    b_.CreateAlignedStore(stored, place.pointer, align);
  }
}

void KernelCodegen::store_at(const loops::Address& address, std::int32_t output, Value* value) {
  const DType dtype = kernel_.buffers[output].dtype;
  const Place to = place(address, output);
  if (!is_in_row(address, dtype) || to.stride == nullptr || lanes_.mask != nullptr) {
    store_lanes(to, dtype, value);
    return;
  }
  // The columns of a row are stored together, once the last one is there.
  Stored& row = stored_[output];
  if (row_.index == 0) row = {to, {}};
  row.values.push_back(scalars(lanes_.width).to_memory(value, dtype));
  if (row_.index + 1 == row_.extent) store_columns(row.to, dtype, row.values);
}

void KernelCodegen::emit_store() {
  Value* const value = operand(kernel_.regions[0].result, lanes_.axis >= 0);
  if (kernel_.store == loops::StoreKind::Combine) {
    const DType dtype = kernel_.buffers[kernel_.output].dtype;
    const Place to = place(kernel_.destination, kernel_.output);
    // Lanes must not meet in one element, and each element must see its points in order.
    const bool is_apart = to.offsets == nullptr && (to.step == 1 || to.step == -1);
    if (lanes_.axis >= 0 && !is_apart) {
      combine_by_lane(to, dtype, value);
    } else {
      store_lanes(to, dtype, combine_stored(load_lanes(to, dtype), value));
    }
  } else {
    store_at(kernel_.destination, kernel_.output, value);
  }
  for (const loops::FurtherStore& store : kernel_.further)
    store_at(store.destination, store.output, operand(store.value, lanes_.axis >= 0));
}

// The lanes' places and values go through memory: taking them out of registers costs more.
void KernelCodegen::combine_by_lane(const Place& place, DType dtype, Value* value) {
  llvm::Type* const element = memory_type(dtype);
  llvm::Type* const word = b_.getInt64Ty();
  const auto spill = [&](Value* vector, const char* name) {
    llvm::AllocaInst* const cell = new_cell(vector->getType(), name);
    b_.CreateStore(vector, cell);
    return cell;
  };
  Value* const values = spill(scalars(lanes_.width).to_memory(value, dtype), "values");
  Value* const offsets = place.offsets != nullptr ? spill(place.offsets, "offsets") : nullptr;
  Value* count = int64(lanes_.width);
  if (lanes_.mask != nullptr) {  // the first ones
    Value* const bits =
        b_.CreateBitCast(lanes_.mask, b_.getIntNTy(static_cast<unsigned>(lanes_.width)));
    count = b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), word);
  }
  const Lanes vector = lanes_;
  lanes_ = {};
  loop(int64(0), count, 1, [&](Value* lane) {
    const llvm::Align align(lang::size_of(dtype));
    Value* const offset = offsets != nullptr
                              ? b_.CreateLoad(word, b_.CreateGEP(word, offsets, lane))
                              : b_.CreateMul(lane, int64(place.step));
    Value* const at = b_.CreateGEP(element, place.pointer, offset);
    const auto load = [&](Value* from) {
      return scalars(1).from_memory(b_.CreateAlignedLoad(element, from, align), dtype);
    };
    Value* const combined = combine_stored(load(at), load(b_.CreateGEP(element, values, lane)));
    b_.CreateAlignedStore(scalars(1).to_memory(combined, dtype), at, align);
  });
  lanes_ = vector;
}

}  // namespace relay::jit
