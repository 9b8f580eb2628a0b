#include "jit/function_codegen.h"

namespace relay::jit {

using flow::SlotType;
using flow::Step;
using lang::DType;
using lang::ValueKind;
using llvm::Value;

Value* FunctionCodegen::part(Value* object, std::size_t offset) {
  if (offset == 0) return object;
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), object, offset);
}

// Of an object that is not changed once it is made.
Value* FunctionCodegen::load_header(llvm::Type* type, Value* object, std::size_t offset) {
  llvm::LoadInst* const load = b_.CreateLoad(type, part(object, offset));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return load;
}

// --- Counts ---

void FunctionCodegen::retain(Value* object) {
  Value* const place = part(object, layout_.refs);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), place), b_.getInt32(1)), place);
}

void FunctionCodegen::release(Value* object) {
  Value* const place = part(object, layout_.refs);
  Value* const count = b_.CreateLoad(b_.getInt32Ty(), place);
  llvm::BasicBlock* const last = new_block("last");
  llvm::BasicBlock* const shared = new_block("shared");
  llvm::BasicBlock* const after = new_block("released");
  b_.CreateCondBr(b_.CreateICmpEQ(count, b_.getInt32(1)), last, shared);
  b_.SetInsertPoint(last);
  call_service(services_.release, b_.getVoidTy(), {object});
  b_.CreateBr(after);
  b_.SetInsertPoint(shared);
  b_.CreateStore(b_.CreateSub(count, b_.getInt32(1)), place);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// A cell that nobody else holds gives its fields away; of another one they are counted once more.
void FunctionCodegen::take(const Step& step) {
  Value* const cell = operand(step.args[0]);
  Value* const count = b_.CreateLoad(b_.getInt32Ty(), part(cell, layout_.refs));
  llvm::BasicBlock* const alone = new_block("alone");
  llvm::BasicBlock* const shared = new_block("shared");
  llvm::BasicBlock* const after = new_block("taken");
  b_.CreateCondBr(b_.CreateICmpEQ(count, b_.getInt32(1)), alone, shared);
  b_.SetInsertPoint(alone);
  Value* const empty = b_.getInt8(static_cast<std::uint8_t>(ValueKind::Empty));
  for (std::size_t i = 0; i < step.results.size(); ++i) {
    Value* const place = field_place(cell, type_of(step.args[0]).kind, step.fields[i]);
    b_.CreateStore(empty, part(place, layout_.value_kind));
  }
  call_service(services_.release, b_.getVoidTy(), {cell});
  b_.CreateBr(after);
  b_.SetInsertPoint(shared);
  for (flow::Slot slot : step.results) retain(values_[slot]);
  // Not the last count: one of the fields may not be the cell.
  b_.CreateStore(b_.CreateSub(count, b_.getInt32(1)), part(cell, layout_.refs));
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// --- Values as data ---

llvm::Type* FunctionCodegen::memory_type(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return b_.getInt8Ty();
    case DType::Float16:
    case DType::BFloat16:
      return b_.getInt16Ty();
    default:
      return scalars().type(dtype);
  }
}

Value* FunctionCodegen::to_bits(Value* value, const SlotType& type) {
  if (type.is_object()) return b_.CreatePtrToInt(value, b_.getInt64Ty());
  Value* stored = scalars().to_memory(value, type.dtype);
  const auto width = static_cast<unsigned>(8 * lang::size_of(type.dtype));
  stored = b_.CreateBitCast(stored, b_.getIntNTy(width));
  return b_.CreateZExt(stored, b_.getInt64Ty());
}

Value* FunctionCodegen::from_bits(Value* bits, const SlotType& type) {
  if (type.is_object()) return b_.CreateIntToPtr(bits, b_.getPtrTy());
  const auto width = static_cast<unsigned>(8 * lang::size_of(type.dtype));
  Value* const stored = b_.CreateTrunc(bits, b_.getIntNTy(width));
  return scalars().from_memory(b_.CreateBitCast(stored, memory_type(type.dtype)), type.dtype);
}

void FunctionCodegen::store_value(Value* place, Value* value, const SlotType& type) {
  const auto byte = [this](auto number) { return b_.getInt8(static_cast<std::uint8_t>(number)); };
  b_.CreateStore(byte(type.kind), part(place, layout_.value_kind));
  b_.CreateStore(byte(type.dtype), part(place, layout_.value_dtype));
  b_.CreateStore(to_bits(value, type), part(place, layout_.value_bits));
}

Value* FunctionCodegen::load_value(Value* place, const SlotType& type) {
  Value* const bits = part(place, layout_.value_bits);
  if (type.kind == ValueKind::Closure) {  // or a constructor as a function
    Value* const kind = b_.CreateLoad(b_.getInt8Ty(), part(place, layout_.value_kind));
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    llvm::BasicBlock* const other = new_block("other");
    llvm::BasicBlock* const after = new_block("closure");
    Value* const closure = b_.CreateLoad(b_.getPtrTy(), bits);
    Value* const is_closure =
        b_.CreateICmpEQ(kind, b_.getInt8(static_cast<std::uint8_t>(ValueKind::Closure)));
    b_.CreateCondBr(is_closure, after, other);
    b_.SetInsertPoint(other);
    Value* const made = call_service(services_.closure_of, b_.getPtrTy(), {runner_, place});
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    llvm::PHINode* const phi = b_.CreatePHI(b_.getPtrTy(), 2);
    phi->addIncoming(closure, before);
    phi->addIncoming(made, other);
    return phi;
  }
  if (type.is_object()) return b_.CreateLoad(b_.getPtrTy(), bits);
  return from_bits(b_.CreateLoad(b_.getInt64Ty(), bits), type);
}

Value* FunctionCodegen::field_place(Value* cell, ValueKind kind, std::size_t number) {
  const std::size_t first = kind == ValueKind::Tuple ? layout_.tuple_fields : layout_.adt_fields;
  return part(cell, first + number * sizeof(lang::Value));
}

void FunctionCodegen::construct(const Step& step) {
  const Values fields = arguments(step.args);
  const bool is_tuple = step.constructor == nullptr;
  Value* const cell =
      is_tuple
          ? call_service(services_.make_tuple, b_.getPtrTy(),
                         {runner_, int64(static_cast<std::int64_t>(fields.size()))})
          : call_service(services_.make_adt, b_.getPtrTy(), {runner_, address(step.constructor)});
  leave_if(b_.CreateIsNull(cell), step, [&] {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (type_of(step.args[i]).is_object()) release(fields[i]);
    }
  });
  for (std::size_t i = 0; i < fields.size(); ++i) {
    store_value(field_place(cell, is_tuple ? ValueKind::Tuple : ValueKind::Adt, i), fields[i],
                type_of(step.args[i]));
  }
  set(step.results[0], cell);
}

Value* FunctionCodegen::new_small_tensor(const lang::Type& type) {
  const auto& tensor = *lang::as<lang::TensorType>(type);
  const std::vector<lang::Dim>& dims = tensor.shape.dims();
  llvm::AllocaInst* const words = scratch((dims.size() + 1) / 2);
  for (std::size_t i = 0; i < dims.size(); ++i)
    b_.CreateStore(int64(dims[i].constant()), part(words, i * sizeof(std::int64_t)));
  return call_service(
      services_.make_tensor, b_.getPtrTy(),
      {runner_, address(nullptr), b_.getInt8(static_cast<std::uint8_t>(tensor.dtype.known())),
       int64(static_cast<std::int64_t>(dims.size())), words});
}

void FunctionCodegen::store_elements(Value* tensor, const Values& elements, std::size_t first,
                                     std::size_t count, DType dtype) {
  Value* const data = load_header(b_.getPtrTy(), tensor, layout_.tensor_data);
  for (std::size_t i = 0; i < count; ++i) {
    Value* const stored = scalars().to_memory(elements[first + i], dtype);
    b_.CreateStore(stored, b_.CreateConstInBoundsGEP1_64(memory_type(dtype), data, i));
  }
}

void FunctionCodegen::small_tensor(const Step& step) {
  const Values elements = arguments(step.args);
  Value* const tensor = new_small_tensor(step.type);
  leave_if(b_.CreateIsNull(tensor), step, [] {});
  store_elements(tensor, elements, 0, elements.size(), source_->slots[step.results[0]].dtype);
  set(step.results[0], tensor);
}

void FunctionCodegen::unpack(Value* place, const lang::Type& type, const flow::Function& function,
                             Values& leaves, bool is_part) {
  const auto* tuple = lang::as<lang::TupleType>(type);
  if (const std::size_t count = flow::small_elements(type)) {
    const auto& dims = lang::as<lang::TensorType>(type)->shape.dims();
    const DType dtype = function.slots[leaves.size()].dtype;
    Value* const tensor = load_value(place, {ValueKind::Tensor, dtype});
    Value* const data = load_header(b_.getPtrTy(), tensor, layout_.tensor_data);
    Value* const strides = load_header(b_.getPtrTy(), tensor, layout_.tensor_strides);
    for (std::size_t i = 0; i < count; ++i) {
      Value* offset = int64(0);
      auto rest = static_cast<std::int64_t>(i);
      for (std::size_t axis = dims.size(); axis-- > 0; rest /= dims[axis].constant()) {
        Value* const stride = load_header(b_.getInt64Ty(), strides, axis * sizeof(std::int64_t));
        offset = b_.CreateAdd(offset, b_.CreateMul(int64(rest % dims[axis].constant()), stride));
      }
      Value* const stored =
          b_.CreateLoad(memory_type(dtype), b_.CreateGEP(memory_type(dtype), data, offset));
      leaves.push_back(scalars().from_memory(stored, dtype));
    }
    return;
  }
  if (tuple == nullptr) {
    const std::size_t slot = leaves.size();
    const SlotType slot_type = function.slots[slot];
    leaves.push_back(load_value(place, slot_type));
    if (!slot_type.is_object() || function.is_borrowed[slot]) return;
    if (is_part || slot_type.kind == ValueKind::Closure) {
      retain(leaves.back());
    } else {  // moved
      b_.CreateStore(b_.getInt8(static_cast<std::uint8_t>(ValueKind::Empty)),
                     part(place, layout_.value_kind));
    }
    return;
  }
  Value* const cell = load_value(place, {ValueKind::Tuple, {}});
  for (std::size_t i = 0; i < tuple->fields.size(); ++i)
    unpack(field_place(cell, ValueKind::Tuple, i), tuple->fields[i], function, leaves, true);
}

void FunctionCodegen::box(Value* place, const lang::Type& type, const Values& leaves,
                          std::size_t& next, llvm::BasicBlock* failed) {
  const auto* tuple = lang::as<lang::TupleType>(type);
  const std::size_t small = flow::small_elements(type);
  if (tuple == nullptr && small == 0) {
    const std::size_t at = next++;
    store_value(place, leaves[at], source_->results[at]);
    return;
  }
  Value* const cell =
      small > 0 ? new_small_tensor(type)
                : call_service(services_.make_tuple, b_.getPtrTy(),
                               {runner_, int64(static_cast<std::int64_t>(tuple->fields.size()))});
  // What stands in `place` already is the evaluator's, and an outer cell holds what it has so far.
  llvm::BasicBlock* const out = new_block("no_memory");
  llvm::BasicBlock* const on = new_block("boxed");
  b_.CreateCondBr(b_.CreateIsNull(cell), out, on, unlikely());
  b_.SetInsertPoint(out);
  for (std::size_t i = next; i < leaves.size(); ++i) {
    if (source_->results[i].is_object()) release(leaves[i]);
  }
  b_.CreateBr(failed);
  b_.SetInsertPoint(on);
  const DType dtype = small > 0 ? source_->results[next].dtype : DType::Bool;
  store_value(place, cell, {small > 0 ? ValueKind::Tensor : ValueKind::Tuple, dtype});
  if (small > 0) {
    store_elements(cell, leaves, next, small, source_->results[next].dtype);
    next += small;
    return;
  }
  for (std::size_t i = 0; i < tuple->fields.size(); ++i)
    box(field_place(cell, ValueKind::Tuple, i), tuple->fields[i], leaves, next, failed);
}

// --- Tensors ---

Value* FunctionCodegen::extent_of(Value* tensor, std::size_t axis) {
  Value* const shape = load_header(b_.getPtrTy(), tensor, layout_.tensor_shape);
  return load_header(b_.getInt64Ty(), shape, axis * sizeof(std::int64_t));
}

Value* FunctionCodegen::index_value(const flow::Operand& operand) {
  const DType dtype = type_of(operand).dtype;
  return b_.CreateIntCast(this->operand(operand), b_.getInt64Ty(), lang::is_signed_int(dtype));
}

void FunctionCodegen::element(const Step& step) {
  Value* const tensor = operand(step.args[0]);
  Value* offset = int64(0);
  for (std::size_t axis = 0; axis + 1 < step.args.size(); ++axis) {
    Value* const index = index_value(step.args[axis + 1]);
    if (!step.in_bounds) {
      leave_if(b_.CreateICmpUGE(index, extent_of(tensor, axis)), step, [&] {
        call_service(
            services_.out_of_range, b_.getInt32Ty(),
            {runner_, address(step.site), tensor, int64(static_cast<std::int64_t>(axis)), index});
      });
    }
    Value* const strides = load_header(b_.getPtrTy(), tensor, layout_.tensor_strides);
    Value* const stride = load_header(b_.getInt64Ty(), strides, axis * sizeof(std::int64_t));
    offset = b_.CreateAdd(offset, b_.CreateMul(index, stride));
  }
  const DType dtype = source_->slots[step.results[0]].dtype;
  Value* const data = load_header(b_.getPtrTy(), tensor, layout_.tensor_data);
  llvm::Type* const type = memory_type(dtype);
  Value* const stored = b_.CreateLoad(type, b_.CreateGEP(type, data, offset));
  set(step.results[0], scalars().from_memory(stored, dtype));
}

void FunctionCodegen::view(const Step& step) {
  Value* const tensor = operand(step.args[0]);
  const std::size_t count = step.args.size() - 1;
  llvm::AllocaInst* const indices = scratch((count + 1) / 2);  // words, two to a Value
  for (std::size_t i = 0; i < count; ++i)
    b_.CreateStore(index_value(step.args[i + 1]), part(indices, i * sizeof(std::int64_t)));
  Value* const row = call_service(
      services_.view, b_.getPtrTy(),
      {runner_, address(step.site), tensor, int64(static_cast<std::int64_t>(count)), indices});
  leave_if(b_.CreateIsNull(row), step, [] {});
  set(step.results[0], row);
}

}  // namespace relay::jit
