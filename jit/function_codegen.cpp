#include "jit/function_codegen.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>

namespace relay::jit {

using flow::Block;
using flow::Exit;
using flow::Function;
using flow::Slot;
using flow::SlotType;
using flow::Step;
using flow::StepKind;
using llvm::Value;

FunctionCodegen::FunctionCodegen(llvm::Module& module, const flow::Services& services,
                                 const flow::Layout& layout, const HostTraits& host,
                                 const flow::Identity& identity)
    : module_(module),
      services_(services),
      layout_(layout),
      host_(host),
      names_(std::make_shared<Names>()),
      b_(module.getContext()) {
  static_assert(sizeof(flow::Services) % sizeof(void*) == 0);
  for (std::size_t i = 0; i < sizeof(flow::Services) / sizeof(void*); ++i) {
    const void* service = nullptr;
    std::memcpy(&service, reinterpret_cast<const std::byte*>(&services) + i * sizeof(service),
                sizeof(service));
    names_->objects.emplace(service, flow::kServicePrefix + std::to_string(i));
  }
  for (std::size_t i = 0; i < identity.objects.size(); ++i)
    names_->objects.emplace(identity.objects[i], flow::kObjectPrefix + std::to_string(i));
  for (std::size_t i = 0; i < identity.callees.size(); ++i)
    names_->callees.emplace(identity.callees[i], flow::kCalleePrefix + std::to_string(i));
}

// --- Types ---

llvm::Type* FunctionCodegen::slot_type(const SlotType& type) {
  return type.is_object() ? b_.getPtrTy() : scalars().type(type.dtype);
}

// What the C convention returns in registers, beside the status.
bool FunctionCodegen::fits_registers(const Function& function) {
  constexpr int kMostIntegers = 2;
  constexpr int kMostFloats = 2;
  int integers = 0;
  int floats = 0;
  for (const SlotType& type : function.results) {
    const bool is_float = !type.is_object() && lang::is_float(type.dtype);
    ++(is_float ? floats : integers);
  }
  return integers <= kMostIntegers && floats <= kMostFloats;
}

llvm::StructType* FunctionCodegen::results_type(const Function& function, bool with_status) {
  std::vector<llvm::Type*> types;
  if (with_status) types.push_back(b_.getInt32Ty());
  for (const SlotType& type : function.results) types.push_back(slot_type(type));
  return llvm::StructType::get(b_.getContext(), types);
}

llvm::FunctionType* FunctionCodegen::type_of(const Function& function) {
  const bool in_registers = fits_registers(function);
  std::vector<llvm::Type*> params = {b_.getPtrTy()};
  if (!in_registers) params.push_back(b_.getPtrTy());
  if (function.is_tail_called)
    params.insert(params.end(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()});
  for (std::size_t i = 0; i < function.param_count; ++i)
    params.push_back(slot_type(function.slots[i]));
  llvm::Type* const result =
      in_registers ? static_cast<llvm::Type*>(results_type(function, true)) : b_.getInt32Ty();
  return llvm::FunctionType::get(result, params, false);
}

llvm::Function* FunctionCodegen::declared(const Function& function) {
  const auto callee = names_->callees.find(&function);
  const std::string& symbol = callee != names_->callees.end() ? callee->second : function.symbol;
  if (llvm::Function* const known = module_.getFunction(symbol)) return known;
  auto* const made =
      llvm::Function::Create(type_of(function), llvm::Function::ExternalLinkage, symbol, module_);
  made->setCallingConv(llvm::CallingConv::Tail);
  made->setDoesNotThrow();
  return made;
}

// --- Small things ---

llvm::MDNode* FunctionCodegen::likely() {
  return llvm::MDBuilder(b_.getContext()).createBranchWeights(1 << 20, 1);
}

llvm::MDNode* FunctionCodegen::unlikely() {
  return llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1 << 20);
}

Value* FunctionCodegen::address(const void* pointer) {
  llvm::Constant* const none = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (pointer == nullptr) return none;
  const auto name = names_->objects.find(pointer);
  if (name != names_->objects.end()) return named(name->second);
  names_->are_complete = false;
  return none;
}

Value* FunctionCodegen::named(const std::string& name) {
  return module_.getOrInsertGlobal(name, b_.getInt8Ty());
}

llvm::CallInst* FunctionCodegen::call_address(const void* service, llvm::Type* result,
                                              llvm::ArrayRef<Value*> args) {
  std::vector<llvm::Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  llvm::CallInst* const call =
      b_.CreateCall(llvm::FunctionType::get(result, types, false), address(service), args);
  call->setDoesNotThrow();
  return call;
}

llvm::AllocaInst* FunctionCodegen::new_cell(llvm::Type* type, const char* name) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  return at.CreateAlloca(type, nullptr, name);
}

llvm::AllocaInst* FunctionCodegen::scratch(std::size_t values) {
  llvm::Type* const value = llvm::ArrayType::get(b_.getInt64Ty(), 2);
  if (result_ == nullptr) result_ = new_cell(value, "result");
  if (scratch_ == nullptr) scratch_ = new_cell(value, "scratch");
  scratch_size_ = std::max(scratch_size_, std::max<std::size_t>(values, 1));
  scratch_->setOperand(0, b_.getInt32(static_cast<std::uint32_t>(scratch_size_)));
  return scratch_;
}

SlotType FunctionCodegen::type_of(const flow::Operand& operand) const {
  if (operand.is_slot()) return source_->slots[operand.index];
  const lang::Value& value = source_->constants[operand.index];
  return {value.kind(), value.is_scalar() ? value.dtype() : lang::DType::Bool};
}

Value* FunctionCodegen::operand(const flow::Operand& operand) {
  if (operand.is_slot()) return values_[operand.index];
  const lang::Value& value = source_->constants[operand.index];
  if (value.is_scalar()) return scalars().constant(value.dtype(), value.bits());
  std::uintptr_t object = 0;
  std::memcpy(&object, reinterpret_cast<const std::byte*>(&value) + layout_.value_bits,
              sizeof(object));
  return address(reinterpret_cast<const void*>(object));
}

FunctionCodegen::Values FunctionCodegen::arguments(const std::vector<flow::Operand>& operands) {
  Values values;
  values.reserve(operands.size());
  for (const flow::Operand& each : operands) values.push_back(operand(each));
  return values;
}

// --- Functions ---

namespace {

// The first block in it, itself included, that is wanted; null if there is none.
const Block* find_block(const Block& block, const std::function<bool(const Block&)>& is_wanted) {
  if (is_wanted(block)) return &block;
  for (const Step& step : block.steps) {
    for (const Block& inner : step.blocks) {
      if (const Block* found = find_block(inner, is_wanted)) return found;
    }
    for (const flow::Arm& arm : step.arms) {
      if (const Block* found = find_block(arm.body, is_wanted)) return found;
    }
  }
  return nullptr;
}

bool calls_itself(const Function& function) {
  return find_block(function.body, [&](const Block& block) {
    return block.exit == Exit::TailCall && block.callee == &function;
  });
}

// Does each call of the function by itself in tail position hand this parameter on as it is?
bool is_kept(const Function& function, Slot param) {
  return find_block(function.body, [&](const Block& block) {
           const bool is_own = block.exit == Exit::TailCall && block.callee == &function;
           if (!is_own) return false;
           const flow::Operand& value = block.values[param];
           return !value.is_slot() || value.index != param;
         }) == nullptr;
}

// By slot of the parameters: the rank of a tensor.
void append_ranks(const lang::Type& type, std::vector<std::size_t>& ranks) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    for (const lang::Type& field : tuple->fields) append_ranks(field, ranks);
    return;
  }
  if (const std::size_t small = flow::small_elements(type)) {
    ranks.insert(ranks.end(), small, 0);
    return;
  }
  const auto* tensor = lang::as<lang::TensorType>(type);
  ranks.push_back(tensor ? tensor->shape.rank() : 0);
}

bool has_calls(const Function& function) {
  return find_block(function.body, [](const Block& block) {
    return block.exit == Exit::TailCall ||
           std::any_of(block.steps.begin(), block.steps.end(), [](const Step& step) {
             return step.kind == StepKind::Call || step.kind == StepKind::CallValue;
           });
  });
}

}  // namespace

void FunctionCodegen::begin(const Function& function) {
  source_ = &function;
  values_.assign(function.slots.size(), nullptr);
  header_ = nullptr;
  header_phis_.clear();
  headers_.clear();
  lent_.clear();
  cleanups_.clear();
  probe_ = scratch_ = result_ = nullptr;
  filling_ = {};
  scratch_size_ = 0;
}

void FunctionCodegen::emit(const Function& function) {
  begin(function);
  function_ = declared(function);
  b_.SetInsertPoint(new_block("entry"));
  fail_ = new_block("failed");
  runner_ = function_->getArg(0);
  unsigned first = 1;
  out_ = fits_registers(function) ? nullptr : function_->getArg(first++);
  tail_ = {};
  if (function.is_tail_called) {
    tail_ = {function_->getArg(first), function_->getArg(first + 1), function_->getArg(first + 2)};
    first += 3;
  }
  for (std::size_t i = 0; i < function.param_count; ++i) {
    values_[i] = function_->getArg(first + static_cast<unsigned>(i));
    if (function.is_borrowed[i] && function.slots[i].kind == lang::ValueKind::Tensor)
      lent_.insert(values_[i]);
  }
  const Block* const filled_by =
      find_block(function.body, [](const Block& block) { return flow::is_call_with_rest(block); });
  if (filled_by) begin_filling(*filled_by);
  if (calls_itself(function)) begin_loop(function);
  if (has_calls(function)) check_stack();
  block(function.body, nullptr);
  b_.SetInsertPoint(fail_);
  if (filled_by) give_up_filling(filled_by->site);
  if (tail_.count != nullptr) {
    llvm::BasicBlock* const tell = new_block("tell");
    llvm::BasicBlock* const told = new_block("told");
    b_.CreateCondBr(b_.CreateICmpSGT(tail_.count, int64(0)), tell, told);
    b_.SetInsertPoint(tell);
    call_service(services_.leave_tail, b_.getVoidTy(),
                 {runner_, tail_.first, tail_.last, tail_.count});
    b_.CreateBr(told);
    b_.SetInsertPoint(told);
  }
  if (out_ != nullptr) {
    b_.CreateRet(b_.getInt32(1));
  } else {
    llvm::Type* const type = function_->getReturnType();
    b_.CreateRet(b_.CreateInsertValue(llvm::PoisonValue::get(type), b_.getInt32(1), 0));
  }
}

// What goes round unchanged is known before the loop, and so are the extents and strides of such a
// tensor.
void FunctionCodegen::begin_loop(const Function& function) {
  std::vector<std::size_t> ranks;
  for (const lang::Type& type : function.param_types) append_ranks(type, ranks);
  // Of a lifted function the types are those of all parameters, captures included.
  std::vector<bool> kept;
  for (Slot param = 0; param < function.param_count; ++param) {
    kept.push_back(is_kept(function, param));
    if (kept.back() && function.slots[param].kind == lang::ValueKind::Tensor)
      know_header(values_[param], ranks[param]);
  }
  llvm::BasicBlock* const entry = b_.GetInsertBlock();
  header_ = new_block("again");
  b_.CreateBr(header_);
  b_.SetInsertPoint(header_);
  for (std::size_t i = 0; i < function.param_count; ++i) {
    header_phis_.push_back(nullptr);
    if (kept[i]) continue;
    llvm::PHINode* const phi = b_.CreatePHI(values_[i]->getType(), 2);
    phi->addIncoming(values_[i], entry);
    if (lent_.contains(values_[i])) lent_.insert(phi);
    values_[i] = phi;
    header_phis_.back() = phi;
  }
}

Value* FunctionCodegen::frame_limit() {
  Value* const place = load_header(b_.getPtrTy(), runner_, offsetof(flow::Runner, frame_limit));
  llvm::LoadInst* const limit = b_.CreateLoad(b_.getInt64Ty(), place);
  limit->setAtomic(llvm::AtomicOrdering::Monotonic);
  limit->setAlignment(llvm::Align(8));
  return limit;
}

// The frame against the limit, which a request to stop overwrites.
void FunctionCodegen::check_stack() {
  if (probe_ == nullptr) probe_ = new_cell(b_.getInt8Ty(), "frame");
  Value* const here = b_.CreatePtrToInt(probe_, b_.getInt64Ty());
  Value* const limit = frame_limit();
  llvm::BasicBlock* const cold = new_block("at_limit");
  llvm::BasicBlock* const on = new_block("on");
  b_.CreateCondBr(b_.CreateICmpULT(here, limit), cold, on, unlikely());
  b_.SetInsertPoint(cold);
  call_service(services_.at_limit, b_.getInt32Ty(), {runner_});
  give_back_arguments(values_);
  b_.CreateBr(fail_);
  b_.SetInsertPoint(on);
}

void FunctionCodegen::leave_if(Value* failed, const Step& step, const Emit& cold) {
  llvm::BasicBlock* const out = new_block("leave");
  llvm::BasicBlock* const on = new_block("on");
  b_.CreateCondBr(failed, out, on, unlikely());
  b_.SetInsertPoint(out);
  cold();
  fail_after(step);
  b_.SetInsertPoint(on);
}

// Of the function itself, those that are its own.
void FunctionCodegen::give_back_arguments(const Values& values) {
  for (std::size_t i = 0; i < source_->param_count; ++i) {
    if (source_->slots[i].is_object() && !source_->is_borrowed[i])
      release(values[i], source_->slots[i]);
  }
}

// The oldest last: steps that follow each other share the way through what they have in common, so
// that this code grows with the steps, and not with the steps times what is alive.
void FunctionCodegen::fail_after(const Step& step) {
  llvm::BasicBlock* const here = b_.GetInsertBlock();
  llvm::BasicBlock* next = fail_;
  for (Slot slot : step.cleanup) {
    llvm::BasicBlock*& given_back = cleanups_[{next, values_[slot]}];
    if (given_back == nullptr) {
      given_back = new_block("give_back");
      b_.SetInsertPoint(given_back);
      release(values_[slot], source_->slots[slot]);
      b_.CreateBr(next);
    }
    next = given_back;
  }
  b_.SetInsertPoint(here);
  b_.CreateBr(next);
}

// --- Blocks ---

void FunctionCodegen::steps(const Block& block) {
  for (const Step& each : block.steps) step(each);
}

void FunctionCodegen::block(const Block& block, const Join* join) {
  steps(block);
  leave_block(block, join);
}

void FunctionCodegen::leave_block(const Block& block, const Join* join) {
  switch (block.exit) {
    case Exit::None:
      return;
    case Exit::Yield: {
      assert(join != nullptr && "the block of a function yields nothing");
      for (std::size_t i = 0; i < block.values.size(); ++i)
        join->phis[i]->addIncoming(operand(block.values[i]), b_.GetInsertBlock());
      b_.CreateBr(join->block);
      return;
    }
    case Exit::Return:
      return_values(arguments(block.values));
      return;
    case Exit::TailCall: {
      const Values args = arguments(block.values);
      if (!block.cells.empty()) fill_with_cells(block, args);
      if (block.accumulated) accumulate(*block.accumulated);
      if (block.callee == source_) {
        for (std::size_t i = 0; i < args.size(); ++i) {
          if (header_phis_[i] != nullptr)
            header_phis_[i]->addIncoming(args[i], b_.GetInsertBlock());
        }
        b_.CreateBr(header_);
        return;
      }
      llvm::CallInst* const call = b_.CreateCall(
          declared(*block.callee), with_hidden(*block.callee, out_, tail_after(block.site), args));
      call->setCallingConv(llvm::CallingConv::Tail);
      call->setTailCallKind(llvm::CallInst::TCK_MustTail);
      b_.CreateRet(call);
      return;
    }
  }
}

void FunctionCodegen::return_values(const Values& given) {
  Values values = given;
  if (filling_.first != nullptr) {
    put_in_place(values[0]);
    values[0] = b_.CreateLoad(b_.getPtrTy(), filling_.first);
  }
  if (filling_.sum != nullptr) values[0] = with_sum(values[0]);
  if (out_ != nullptr) {
    llvm::StructType* const type = results_type(*source_, false);
    for (std::size_t i = 0; i < values.size(); ++i)
      b_.CreateStore(values[i], b_.CreateStructGEP(type, out_, static_cast<unsigned>(i)));
    b_.CreateRet(b_.getInt32(0));
    return;
  }
  Value* result = llvm::PoisonValue::get(function_->getReturnType());
  result = b_.CreateInsertValue(result, b_.getInt32(0), 0);
  for (std::size_t i = 0; i < values.size(); ++i)
    result = b_.CreateInsertValue(result, values[i], static_cast<unsigned>(i + 1));
  b_.CreateRet(result);
}

FunctionCodegen::Join FunctionCodegen::make_join(const Step& step) {
  Join join;
  join.block = new_block("join");
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(join.block);
  for (Slot slot : step.results)
    join.phis.push_back(b_.CreatePHI(slot_type(source_->slots[slot]), 2));
  return join;
}

// --- Steps ---

void FunctionCodegen::step(const Step& step) {
  switch (step.kind) {
    case StepKind::Primitive:
      return primitive(step);
    case StepKind::Element:
      return element(step);
    case StepKind::View:
      return view(step);
    case StepKind::Extent:
      return set(step.results[0], extent_of(operand(step.args[0]), step.number));
    case StepKind::Call:
      return call(step);
    case StepKind::CallValue:
    case StepKind::Interpret:
      return call_as_data(step);
    case StepKind::Fits:
      return set(step.results[0], fits_kernels(step));
    case StepKind::Kernels:
      return kernels(step);
    case StepKind::Construct:
      return construct(step);
    case StepKind::Tensor:
      return small_tensor(step);
    case StepKind::CheckShape: {
      Value* const tensor = operand(step.args[0]);
      return leave_if(has_other_extents(tensor, step.type), step, [&] {
        call_service(services_.wrong_shape, b_.getInt32Ty(),
                     {runner_, address(step.site), address(step.type.get()), tensor});
      });
    }
    case StepKind::CheckIndex:
      return check_index(step, std::span(step.args).subspan(1));
    case StepKind::Own:
      return own(step);
    case StepKind::Store:
    case StepKind::Set:
      return store(step);
    case StepKind::Field: {
      Value* const place =
          field_place(operand(step.args[0]), type_of(step.args[0]).kind, step.number);
      return set(step.results[0], load_value(place, source_->slots[step.results[0]]));
    }
    case StepKind::If:
      return branch(step);
    case StepKind::Match:
      return match(step);
    case StepKind::Loop:
      return comprehension(step);
    case StepKind::Fold:
      return fold(step);
    case StepKind::Retain:
      return retain(operand(step.args[0]));
    case StepKind::Release:
      return release(operand(step.args[0]), type_of(step.args[0]));
    case StepKind::Take:
      return take(step);
  }
}

void FunctionCodegen::primitive(const Step& step) {
  const Values args = arguments(step.args);
  Value* by_zero = nullptr;
  Value* const result = scalars().primitive(step.prim, step.dtype,
                                            source_->slots[step.results[0]].dtype, args, by_zero);
  if (by_zero != nullptr) {
    leave_if(by_zero, step, [&] {
      call_service(services_.divided_by_zero, b_.getInt32Ty(), {runner_, address(step.site)});
    });
  }
  set(step.results[0], result);
}

FunctionCodegen::Values FunctionCodegen::with_hidden(const Function& callee, Value* out,
                                                     const Tail& tail, const Values& args) {
  Values all = {runner_};
  if (out != nullptr) all.push_back(out);
  if (callee.is_tail_called) {
    Value* const none = llvm::ConstantPointerNull::get(b_.getPtrTy());
    all.push_back(tail.first != nullptr ? tail.first : none);
    all.push_back(tail.last != nullptr ? tail.last : none);
    all.push_back(tail.count != nullptr ? tail.count : int64(0));
  }
  all.insert(all.end(), args.begin(), args.end());
  return all;
}

FunctionCodegen::Tail FunctionCodegen::tail_after(const flow::Site* site) {
  Value* const last = address(site);
  if (tail_.count == nullptr) return {last, last, int64(1)};
  Value* const is_first = b_.CreateICmpEQ(tail_.count, int64(0));
  return {b_.CreateSelect(is_first, last, tail_.first), last, b_.CreateAdd(tail_.count, int64(1))};
}

FunctionCodegen::Values FunctionCodegen::call_function(const Function& callee, const Values& args,
                                                       Value*& status, bool is_kept) {
  const bool in_registers = fits_registers(callee);
  llvm::StructType* const type = results_type(callee, false);
  llvm::AllocaInst* const out = in_registers ? nullptr : new_cell(type, "results");
  llvm::CallInst* const call = b_.CreateCall(declared(callee), with_hidden(callee, out, {}, args));
  call->setCallingConv(llvm::CallingConv::Tail);
  if (is_kept) call->setIsNoInline();
  status = in_registers ? b_.CreateExtractValue(call, 0) : static_cast<Value*>(call);
  // Read behind the look at the status.
  Values places;
  for (std::size_t i = 0; i < callee.results.size(); ++i) {
    const auto at = static_cast<unsigned>(i);
    places.push_back(in_registers ? b_.CreateExtractValue(call, at + 1)
                                  : b_.CreateStructGEP(type, out, at));
  }
  return places;
}

void FunctionCodegen::call(const Step& step) {
  Value* status = nullptr;
  const Function& callee = *step.callee;
  const Values results = call_function(callee, arguments(step.args), status);
  leave_if(b_.CreateICmpNE(status, b_.getInt32(0)), step, [&] {
    call_service(services_.leave, b_.getVoidTy(), {runner_, address(step.site)});
  });
  const bool in_registers = fits_registers(callee);
  for (std::size_t i = 0; i < results.size(); ++i) {
    set(step.results[i],
        in_registers ? results[i] : b_.CreateLoad(slot_type(callee.results[i]), results[i]));
  }
}

void FunctionCodegen::call_as_data(const Step& step) {
  const bool is_call = step.kind == StepKind::CallValue;
  const std::size_t first = is_call ? 1 : 0;
  const std::size_t count = step.args.size() - first;
  llvm::AllocaInst* const args = scratch(count);
  for (std::size_t i = 0; i < count; ++i) {
    store_value(part(args, i * sizeof(lang::Value)), operand(step.args[first + i]),
                type_of(step.args[first + i]));
  }
  llvm::Type* const status_type = b_.getInt32Ty();
  Value* const site = address(step.site);
  Value* const size = int64(static_cast<std::int64_t>(count));
  Value* const status =
      is_call ? call_service(services_.call_value, status_type,
                             {runner_, operand(step.args[0]), site, args, size, result_})
              : call_service(services_.interpret, status_type,
                             {runner_, address(step.interpreted), site, args, size, result_});
  leave_if(b_.CreateICmpNE(status, b_.getInt32(0)), step, [] {});
  set(step.results[0], load_value(result_, source_->slots[step.results[0]]));
}

void FunctionCodegen::branch(const Step& step) {
  const Join join = make_join(step);
  llvm::BasicBlock* const then = new_block("then");
  llvm::BasicBlock* const otherwise = new_block("else");
  b_.CreateCondBr(operand(step.args[0]), then, otherwise);
  b_.SetInsertPoint(then);
  block(step.blocks[0], &join);
  b_.SetInsertPoint(otherwise);
  if (step.has_fallback && (source_->is_shareable || chunk_loop_ != nullptr)) {
    Value* const is_helper =
        load_header(b_.getInt8Ty(), runner_, offsetof(flow::Runner, is_helper));
    leave_if(b_.CreateICmpNE(is_helper, b_.getInt8(0)), step, [] {});
  }
  block(step.blocks[1], &join);
  b_.SetInsertPoint(join.block);
  if (join.block->hasNPredecessorsOrMore(1)) {
    for (std::size_t i = 0; i < step.results.size(); ++i) set(step.results[i], join.phis[i]);
  } else {
    b_.CreateUnreachable();  // all branches have left the function
  }
}

void FunctionCodegen::match(const Step& step) {
  const Join join = make_join(step);
  llvm::BasicBlock* next = nullptr;
  for (const flow::Arm& arm : step.arms) {
    next = new_block("next");
    for (const flow::Test& test : arm.tests) {
      Value* const cell = operand(test.cell);
      if (test.kind == flow::Test::Kind::Field) {
        Value* const place = field_place(cell, type_of(test.cell).kind, test.number);
        set(test.result, load_value(place, source_->slots[test.result]));
        continue;
      }
      // Its memory may have been another cell's.
      Value* const constructor = b_.CreateLoad(b_.getPtrTy(), part(cell, layout_.adt_constructor));
      Value* const tag = load_header(b_.getInt32Ty(), constructor, layout_.constructor_tag);
      llvm::BasicBlock* const on = new_block("fits");
      b_.CreateCondBr(b_.CreateICmpEQ(tag, b_.getInt32(test.number)), on, next);
      b_.SetInsertPoint(on);
    }
    block(arm.body, &join);
    b_.SetInsertPoint(next);
  }
  llvm::AllocaInst* const leaves = scratch(step.args.size());
  for (std::size_t i = 0; i < step.args.size(); ++i) {
    store_value(part(leaves, i * sizeof(lang::Value)), operand(step.args[i]),
                type_of(step.args[i]));
  }
  call_service(services_.no_match, b_.getInt32Ty(),
               {runner_, address(step.site), address(step.type.get()), leaves});
  fail_after(step);
  b_.SetInsertPoint(join.block);
  if (join.block->hasNPredecessorsOrMore(1)) {
    for (std::size_t i = 0; i < step.results.size(); ++i) set(step.results[i], join.phis[i]);
  } else {
    b_.CreateUnreachable();
  }
}

// --- The entry ---

void FunctionCodegen::emit_entry(const Function& function) {
  begin(function);
  llvm::Type* const pointer = b_.getPtrTy();
  function_ = llvm::Function::Create(
      llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer, pointer}, false),
      llvm::Function::ExternalLinkage, flow::entry_symbol(function), module_);
  function_->setDoesNotThrow();
  b_.SetInsertPoint(new_block("entry"));
  runner_ = function_->getArg(0);
  Values leaves;
  for (std::size_t i = 0; i < function.param_types.size(); ++i) {
    unpack(part(function_->getArg(1), i * sizeof(lang::Value)), function.param_types[i], function,
           function.param_sites[i], leaves, false);
  }
  Value* status = nullptr;
  // Written out here too, the function would be compiled twice.
  Values results = call_function(function, leaves, status, /*is_kept=*/true);
  llvm::BasicBlock* const failed = new_block("failed");
  llvm::BasicBlock* const on = new_block("on");
  b_.CreateCondBr(b_.CreateICmpNE(status, b_.getInt32(0)), failed, on, unlikely());
  b_.SetInsertPoint(on);
  if (!fits_registers(function)) {
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i] = b_.CreateLoad(slot_type(function.results[i]), results[i]);
  }
  std::size_t next = 0;
  box(function_->getArg(2), function.result_type, results, next, failed);
  b_.CreateRet(b_.getInt32(0));
  b_.SetInsertPoint(failed);
  b_.CreateRet(b_.getInt32(1));
}

}  // namespace relay::jit
