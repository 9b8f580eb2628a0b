#include "jit/function_codegen.h"
#include "lang/wrapped_memory.h"
#include "loops/reduce_op.h"

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
  if (lent_.contains(object)) return load;
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return load;
}

// --- Counts ---

void FunctionCodegen::retain(Value* object) {
  Value* const place = part(object, layout_.refs);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), place), b_.getInt32(1)), place);
}

void FunctionCodegen::release(Value* object, const SlotType& type) {
  Value* const place = part(object, layout_.refs);
  Value* const count = b_.CreateLoad(b_.getInt32Ty(), place);
  llvm::BasicBlock* const last = new_block("last");
  llvm::BasicBlock* const shared = new_block("shared");
  llvm::BasicBlock* const after = new_block("released");
  b_.CreateCondBr(b_.CreateICmpEQ(count, b_.getInt32(1)), last, shared);
  b_.SetInsertPoint(last);
  if (type.kind == ValueKind::Adt || type.kind == ValueKind::Tuple) {
    call_service(services_.reclaim, b_.getVoidTy(),
                 {object, int64(static_cast<std::int64_t>(type.kind))});
  } else {
    call_service(services_.release, b_.getVoidTy(), {object});
  }
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
  const SlotType type = type_of(step.args[0]);
  if (step.number > 0) {
    for (const flow::Dropped& each : step.dropped) {
      Value* const place = part(field_place(cell, type.kind, each.number), layout_.value_bits);
      release(b_.CreateLoad(b_.getPtrTy(), place), each.type);
    }
    free_cell(cell, type.kind, step.number);
  } else {
    Value* const empty = b_.getInt8(static_cast<std::uint8_t>(ValueKind::Empty));
    for (std::uint32_t field : step.fields)
      b_.CreateStore(empty, part(field_place(cell, type.kind, field), layout_.value_kind));
    call_service(services_.reclaim, b_.getVoidTy(),
                 {cell, int64(static_cast<std::int64_t>(type.kind))});
  }
  b_.CreateBr(after);
  b_.SetInsertPoint(shared);
  for (flow::Slot slot : step.results) retain(values_[slot]);
  // Not the last count: one of the fields may not be the cell.
  b_.CreateStore(b_.CreateSub(count, b_.getInt32(1)), part(cell, layout_.refs));
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// --- Memory of cells (lang/cell_memory.h) ---

std::size_t FunctionCodegen::bytes_of_cell(ValueKind kind, std::size_t count) const {
  const std::size_t first = kind == ValueKind::Tuple ? layout_.tuple_fields : layout_.adt_fields;
  return first + count * sizeof(lang::Value);
}

// The list for the size; null if there is none.
Value* FunctionCodegen::cell_list(std::size_t bytes) {
  if (!lang::kHasCellLists || bytes > lang::kLargestCell) return nullptr;
  Value* const lists = load_header(b_.getPtrTy(), runner_, offsetof(flow::Runner, cells));
  return part(lists, bytes / lang::kCellUnit * sizeof(lang::CellList));
}

Value* FunctionCodegen::allocate_cell(ValueKind kind, std::size_t count) {
  const std::size_t bytes = bytes_of_cell(kind, count);
  const auto slowly = [&] {
    return call_service(services_.allocate_cell, b_.getPtrTy(),
                        {runner_, int64(static_cast<std::int64_t>(bytes))});
  };
  Value* const list = cell_list(bytes);
  if (list == nullptr) return slowly();
  Value* const first_place = part(list, offsetof(lang::CellList, first));
  Value* const room_place = part(list, offsetof(lang::CellList, room));
  Value* const first = b_.CreateLoad(b_.getPtrTy(), first_place);
  llvm::BasicBlock* const none = new_block("no_cell");
  llvm::BasicBlock* const some = new_block("cell");
  llvm::BasicBlock* const after = new_block("allocated");
  b_.CreateCondBr(b_.CreateIsNull(first), none, some, unlikely());
  b_.SetInsertPoint(none);
  Value* const fresh = slowly();
  b_.CreateBr(after);
  b_.SetInsertPoint(some);
  b_.CreateStore(b_.CreateLoad(b_.getPtrTy(), first), first_place);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), room_place), int64(1)), room_place);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* const phi = b_.CreatePHI(b_.getPtrTy(), 2);
  phi->addIncoming(fresh, none);
  phi->addIncoming(first, some);
  return phi;
}

void FunctionCodegen::free_cell(Value* cell, ValueKind kind, std::size_t count) {
  const std::size_t bytes = bytes_of_cell(kind, count);
  const auto slowly = [&] {
    call_service(services_.release_cell, b_.getVoidTy(),
                 {cell, int64(static_cast<std::int64_t>(bytes))});
  };
  Value* const list = cell_list(bytes);
  if (list == nullptr) return slowly();
  Value* const first_place = part(list, offsetof(lang::CellList, first));
  Value* const room_place = part(list, offsetof(lang::CellList, room));
  Value* const room = b_.CreateLoad(b_.getInt64Ty(), room_place);
  llvm::BasicBlock* const full = new_block("no_room");
  llvm::BasicBlock* const fits = new_block("room");
  llvm::BasicBlock* const after = new_block("freed");
  b_.CreateCondBr(b_.CreateICmpSGT(room, int64(0)), fits, full, likely());
  b_.SetInsertPoint(full);
  slowly();
  b_.CreateBr(after);
  b_.SetInsertPoint(fits);
  b_.CreateStore(b_.CreateSub(room, int64(1)), room_place);
  b_.CreateStore(b_.CreateLoad(b_.getPtrTy(), first_place), cell);
  b_.CreateStore(cell, first_place);
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
  // One store of a word, of which the rest means nothing.
  const auto at = [](auto number, std::size_t place) {
    return static_cast<std::uint64_t>(number) << (8 * place);
  };
  b_.CreateStore(
      b_.getInt64(at(type.kind, layout_.value_kind) | at(type.dtype, layout_.value_dtype)), place);
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

// A cell with its header, and without fields yet; null where there is no memory, which `failed`
// takes care of, in a block of its own.
Value* FunctionCodegen::make_cell(const lang::Constructor* constructor, std::size_t count,
                                  const Emit& failed) {
  const ValueKind kind = constructor == nullptr ? ValueKind::Tuple : ValueKind::Adt;
  Value* const cell = allocate_cell(kind, count);
  llvm::BasicBlock* const out = new_block("no_memory");
  llvm::BasicBlock* const on = new_block("made");
  b_.CreateCondBr(b_.CreateIsNull(cell), out, on, unlikely());
  b_.SetInsertPoint(out);
  failed();
  b_.SetInsertPoint(on);
  b_.CreateStore(named(kind == ValueKind::Tuple ? flow::kTupleBegin : flow::kAdtBegin), cell);
  b_.CreateStore(b_.getInt32(1), part(cell, layout_.refs));
  b_.CreateStore(b_.getInt32(static_cast<std::uint32_t>(count)), part(cell, layout_.cell_count));
  if (constructor != nullptr)
    b_.CreateStore(address(constructor), part(cell, layout_.adt_constructor));
  return cell;
}

void FunctionCodegen::construct(const Step& step) {
  const Values fields = arguments(step.args);
  const ValueKind kind = step.constructor == nullptr ? ValueKind::Tuple : ValueKind::Adt;
  Value* const cell = make_cell(step.constructor, fields.size(), [&] {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (type_of(step.args[i]).is_object()) release(fields[i], type_of(step.args[i]));
    }
    fail_after(step);
  });
  for (std::size_t i = 0; i < fields.size(); ++i)
    store_value(field_place(cell, kind, i), fields[i], type_of(step.args[i]));
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

Value* FunctionCodegen::has_other_extents(Value* tensor, const lang::Type& type) {
  const std::vector<lang::Dim>& dims = lang::as<lang::TensorType>(type)->shape.dims();
  Value* differs = b_.getFalse();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    Value* const differs_here =
        b_.CreateICmpNE(extent_of(tensor, axis), int64(dims[axis].constant()));
    differs = b_.CreateOr(differs, differs_here);
  }
  return differs;
}

void FunctionCodegen::small_tensor(const Step& step) {
  const Values elements = arguments(step.args);
  Value* const tensor = new_small_tensor(step.type);
  leave_if(b_.CreateIsNull(tensor), step, [] {});
  store_elements(tensor, elements, 0, elements.size(), source_->slots[step.results[0]].dtype);
  set(step.results[0], tensor);
}

void FunctionCodegen::unpack(Value* place, const lang::Type& type, const flow::Function& function,
                             const flow::Site* site, Values& leaves, bool is_part) {
  const auto* tuple = lang::as<lang::TupleType>(type);
  if (const std::size_t count = flow::small_elements(type)) {
    const auto& dims = lang::as<lang::TensorType>(type)->shape.dims();
    const DType dtype = function.slots[leaves.size()].dtype;
    Value* const tensor = load_value(place, {ValueKind::Tensor, dtype});
    llvm::BasicBlock* const wrong = new_block("wrong_shape");
    llvm::BasicBlock* const right = new_block("shape");
    b_.CreateCondBr(has_other_extents(tensor, type), wrong, right, unlikely());
    b_.SetInsertPoint(wrong);
    call_service(services_.wrong_shape, b_.getInt32Ty(),
                 {runner_, address(site), address(type.get()), tensor});
    for (std::size_t slot = 0; slot < leaves.size(); ++slot) {
      if (function.slots[slot].is_object() && !function.is_borrowed[slot])
        release(leaves[slot], function.slots[slot]);
    }
    b_.CreateRet(b_.getInt32(1));
    b_.SetInsertPoint(right);
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
    unpack(field_place(cell, ValueKind::Tuple, i), tuple->fields[i], function, site, leaves, true);
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
  if (small > 0) {
    Value* const tensor = new_small_tensor(type);
    llvm::BasicBlock* const out = new_block("no_memory");
    llvm::BasicBlock* const on = new_block("boxed");
    b_.CreateCondBr(b_.CreateIsNull(tensor), out, on, unlikely());
    b_.SetInsertPoint(out);
    for (std::size_t i = next; i < leaves.size(); ++i) {
      if (source_->results[i].is_object()) release(leaves[i], source_->results[i]);
    }
    b_.CreateBr(failed);
    b_.SetInsertPoint(on);
    const DType dtype = source_->results[next].dtype;
    store_value(place, tensor, {ValueKind::Tensor, dtype});
    store_elements(tensor, leaves, next, small, dtype);
    next += small;
    return;
  }
  // What stands in `place` already is the evaluator's, and an outer cell holds what it has so far.
  Value* const cell = make_cell(nullptr, tuple->fields.size(), [&] {
    for (std::size_t i = next; i < leaves.size(); ++i) {
      if (source_->results[i].is_object()) release(leaves[i], source_->results[i]);
    }
    b_.CreateBr(failed);
  });
  // Until they are stored.
  for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
    b_.CreateStore(b_.getInt64(0), field_place(cell, ValueKind::Tuple, i));
  }
  store_value(place, cell, {ValueKind::Tuple, {}});
  for (std::size_t i = 0; i < tuple->fields.size(); ++i)
    box(field_place(cell, ValueKind::Tuple, i), tuple->fields[i], leaves, next, failed);
}

// --- Tensors ---

// From here on: where this code has run, it need not be read again.
void FunctionCodegen::know_header(Value* tensor, std::size_t rank) {
  Header header;
  header.data = data_of(tensor);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    header.shape.push_back(extent_of(tensor, axis));
    header.strides.push_back(stride_of(tensor, axis));
  }
  headers_[tensor] = std::move(header);
}

Value* FunctionCodegen::data_of(Value* tensor) {
  if (const auto known = headers_.find(tensor); known != headers_.end()) return known->second.data;
  return load_header(b_.getPtrTy(), tensor, layout_.tensor_data);
}

Value* FunctionCodegen::extent_of(Value* tensor, std::size_t axis) {
  if (const auto known = headers_.find(tensor); known != headers_.end()) {
    const auto& [data, shape, strides, base, first_axis] = known->second;
    return base != nullptr ? extent_of(base, first_axis + axis) : shape[axis];
  }
  Value* const shape = load_header(b_.getPtrTy(), tensor, layout_.tensor_shape);
  return load_header(b_.getInt64Ty(), shape, axis * sizeof(std::int64_t));
}

Value* FunctionCodegen::index_value(const flow::Operand& operand) {
  const DType dtype = type_of(operand).dtype;
  return b_.CreateIntCast(this->operand(operand), b_.getInt64Ty(), lang::is_signed_int(dtype));
}

void FunctionCodegen::check_index(const Step& step, std::span<const flow::Operand> indices) {
  Value* const tensor = operand(step.args[0]);
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    Value* const index = index_value(indices[axis]);
    leave_if(b_.CreateICmpUGE(index, extent_of(tensor, axis)), step, [&] {
      call_service(
          services_.out_of_range, b_.getInt32Ty(),
          {runner_, address(step.site), tensor, int64(static_cast<std::int64_t>(axis)), index});
    });
  }
}

Value* FunctionCodegen::stride_of(Value* tensor, std::size_t axis) {
  if (const auto known = headers_.find(tensor); known != headers_.end()) {
    const auto& [data, shape, strides, base, first_axis] = known->second;
    return base != nullptr ? stride_of(base, first_axis + axis) : strides[axis];
  }
  Value* const strides = load_header(b_.getPtrTy(), tensor, layout_.tensor_strides);
  return load_header(b_.getInt64Ty(), strides, axis * sizeof(std::int64_t));
}

Value* FunctionCodegen::element_place(Value* tensor, std::span<const flow::Operand> indices,
                                      DType dtype) {
  Value* offset = int64(0);
  for (std::size_t axis = 0; axis < indices.size(); ++axis)
    offset =
        b_.CreateAdd(offset, b_.CreateMul(index_value(indices[axis]), stride_of(tensor, axis)));
  return b_.CreateGEP(memory_type(dtype), data_of(tensor), offset);
}

void FunctionCodegen::element(const Step& step) {
  const auto indices = std::span(step.args).subspan(1);
  if (!step.in_bounds && !nothing_fails_) check_index(step, indices);
  const DType dtype = source_->slots[step.results[0]].dtype;
  Value* const place = element_place(operand(step.args[0]), indices, dtype);
  Value* const stored = b_.CreateLoad(memory_type(dtype), place);
  set(step.results[0], scalars().from_memory(stored, dtype));
}

// --- Tensors that are stored to ---

Value* FunctionCodegen::is_own(Value* tensor, std::size_t rank) {
  const auto is_alone = [&](Value* object) {
    Value* const count = b_.CreateLoad(b_.getInt32Ty(), part(object, layout_.refs));
    return b_.CreateICmpEQ(count, b_.getInt32(1));
  };
  Value* const buffer = load_header(b_.getPtrTy(), tensor, layout_.tensor_buffer);
  Value* result = b_.CreateAnd(is_alone(tensor), is_alone(buffer));
  // Memory that somebody has lent is never written to. A few tensors of this size are copied, too.
  Value* const size = b_.CreateLoad(b_.getInt64Ty(), part(buffer, layout_.buffer_size));
  result = b_.CreateAnd(result, b_.CreateICmpNE(size, int64(lang::kWrapperSize)));
  Value* dense = int64(1);
  for (std::size_t axis = rank; axis-- > 0;) {
    result = b_.CreateAnd(result, b_.CreateICmpEQ(stride_of(tensor, axis), dense));
    dense = b_.CreateMul(dense, extent_of(tensor, axis));
  }
  return result;
}

void FunctionCodegen::own(const Step& step) {
  Value* const given = operand(step.args[0]);
  const std::size_t rank = lang::as<lang::TensorType>(step.type)->shape.rank();
  llvm::BasicBlock* const copy = new_block("copy");
  llvm::BasicBlock* const owned = new_block("owned");
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  b_.CreateCondBr(is_own(given, rank), owned, copy, likely());
  b_.SetInsertPoint(copy);
  Value* const fresh = call_service(services_.own_tensor, b_.getPtrTy(), {runner_, given});
  leave_if(b_.CreateIsNull(fresh), step, [] {});
  llvm::BasicBlock* const copied = b_.GetInsertBlock();
  b_.CreateBr(owned);
  b_.SetInsertPoint(owned);
  llvm::PHINode* const tensor = b_.CreatePHI(b_.getPtrTy(), 2);
  tensor->addIncoming(given, before);
  tensor->addIncoming(fresh, copied);
  forget_content(tensor);
  set(step.results[0], tensor);
}

// What is in the tensor's buffer becomes something else.
void FunctionCodegen::forget_content(Value* tensor) {
  Value* const buffer = load_header(b_.getPtrTy(), tensor, layout_.tensor_buffer);
  b_.CreateStore(int64(0), part(buffer, layout_.buffer_content));
}

void FunctionCodegen::store(const Step& step) {
  const auto indices = std::span(step.args).subspan(1, step.args.size() - 2);
  Value* const place = element_place(operand(step.args[0]), indices, step.dtype);
  Value* value = operand(step.args.back());
  if (step.kind == flow::StepKind::Store) {
    Value* const stored = b_.CreateLoad(memory_type(step.dtype), place);
    value = scalars().binary(loops::prim_of(step.reduce), step.dtype,
                             scalars().from_memory(stored, step.dtype), value);
  }
  b_.CreateStore(scalars().to_memory(value, step.dtype), place);
}

// A copy of the tensor's header on the stack, with fewer axes and other elements. It counts for
// nobody; what it is a view of is there as long as it is.
void FunctionCodegen::light_view(const Step& step) {
  const auto indices = std::span(step.args).subspan(1);
  check_index(step, indices);
  Value* const tensor = operand(step.args[0]);
  const DType dtype = source_->slots[step.results[0]].dtype;
  Value* const data = element_place(tensor, indices, dtype);
  llvm::AllocaInst* const header =
      new_cell(llvm::ArrayType::get(b_.getInt8Ty(), layout_.tensor_bytes), "view");
  header->setAlignment(llvm::Align(alignof(lang::Tensor)));
  b_.CreateMemCpy(header, header->getAlign(), tensor, header->getAlign(), layout_.tensor_bytes);
  for (const std::size_t list : {layout_.tensor_shape, layout_.tensor_strides}) {
    Value* const begin = load_header(b_.getPtrTy(), tensor, list);
    b_.CreateStore(part(begin, indices.size() * sizeof(std::int64_t)), part(header, list));
  }
  b_.CreateStore(data, part(header, layout_.tensor_data));
  headers_[header] = {data, {}, {}, tensor, indices.size()};
  lent_.insert(header);
  set(step.results[0], header);
}

void FunctionCodegen::view(const Step& step) {
  if (step.is_light) return light_view(step);
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
