#include <algorithm>
#include <cstddef>

#include "jit/analysis.h"
#include "jit/function_codegen.h"
#include "jit/kernel_codegen.h"

// Kernels that are part of a function (flow::Kernels): each becomes a function of the module, which
// is called with constant sizes. Scalars, small tensors and short temporaries are on the stack.
namespace relay::jit {

using flow::SlotType;
using flow::Step;
using lang::DType;
using lang::ValueKind;
using llvm::Value;

namespace {

constexpr std::size_t kMostOnStack = 512;  // bytes of a temporary

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::size_t bytes_of(const loops::MadeTensor& tensor) {
  return static_cast<std::size_t>(count_of(tensor.shape)) * lang::size_of(tensor.dtype);
}

}  // namespace

// What a run of kernels works with.
struct FunctionCodegen::InnerRun {
  const flow::Kernels& kernels;
  Values buffers;                 // by buffer of the group: where it is
  Values arguments;               // by leaf: the object; null for what stands on the stack
  std::vector<int> result;        // by made tensor: which leaf of the results it is; -1: none
  Values made;                    // by made tensor: the object; null for what stands on the stack
  Values is_reused;               // by leaf: has a result taken its memory? null: none does
  std::vector<Value*> is_copied;  // by launch: need it not run? null: it must
};

// None where one of them is out of reach.
std::vector<llvm::Function*> FunctionCodegen::kernel_functions(const flow::Kernels& kernels) {
  const auto [known, is_new] = kernel_functions_.try_emplace(&kernels);
  if (!is_new) return known->second;
  std::vector<llvm::Function*> functions;
  for (const loops::Launch& launch : kernels.group.launches) {
    Analysis analysis(launch.kernel);
    if (!analysis.is_supported(host_)) return {};
    const std::string name = source_->symbol + ".kernel" + std::to_string(kernels_made_++);
    KernelCodegen code(launch.kernel, analysis, host_, module_,
                       KernelCodegen::Company::AmongOthers);
    functions.push_back(code.emit(name));
    functions.back()->setLinkage(llvm::Function::InternalLinkage);
  }
  kernel_functions_[&kernels] = functions;
  return functions;
}

// Are the tensors row-major, and of the extents of their types?
Value* FunctionCodegen::fits_kernels(const Step& step) {
  if (kernel_functions(*step.kernels).empty()) return b_.getFalse();
  Value* fits = b_.getTrue();
  std::size_t next = 0;
  for (std::size_t leaf = 0; leaf < step.fields.size(); ++leaf) {
    if (step.fields[leaf] == 0) {
      Value* const tensor = operand(step.args[next]);
      const lang::Type& type = step.kernels->args[leaf];
      fits = b_.CreateAnd(fits, b_.CreateNot(has_other_extents(tensor, type)));
      const std::vector<lang::Dim>& dims = lang::as<lang::TensorType>(type)->shape.dims();
      std::int64_t stride = 1;
      for (std::size_t axis = dims.size(); axis-- > 0; stride *= dims[axis].constant())
        fits = b_.CreateAnd(fits, b_.CreateICmpEQ(stride_of(tensor, axis), int64(stride)));
    }
    next += std::max(step.fields[leaf], 1U);
  }
  return fits;
}

void FunctionCodegen::place_arguments(const Step& step, InnerRun& run) {
  std::size_t next = 0;
  for (std::size_t leaf = 0; leaf < step.fields.size(); ++leaf) {
    const std::size_t elements = step.fields[leaf];
    if (elements == 0) {
      Value* const tensor = operand(step.args[next++]);
      run.arguments.push_back(tensor);
      run.buffers.push_back(data_of(tensor));
      continue;
    }
    const DType dtype = lang::as<lang::TensorType>(step.kernels->args[leaf])->dtype.known();
    llvm::Type* const type = memory_type(dtype);
    llvm::AllocaInst* const place = new_cell(llvm::ArrayType::get(type, elements), "argument");
    for (std::size_t i = 0; i < elements; ++i) {
      Value* const stored = scalars().to_memory(operand(step.args[next++]), dtype);
      b_.CreateStore(stored, b_.CreateConstInBoundsGEP1_64(type, place, i));
    }
    run.arguments.push_back(nullptr);
    run.buffers.push_back(place);
  }
  run.is_reused.assign(step.fields.size(), nullptr);
}

void FunctionCodegen::make_tensors(const Step& step, InnerRun& run) {
  const loops::LoweredGroup& group = run.kernels.group;
  for (const lang::TensorRef& literal : group.literals)
    run.buffers.push_back(address(literal->data()));
  const std::size_t first_made = run.buffers.size();
  run.result.assign(group.made.size(), -1);
  for (std::size_t leaf = 0; leaf < group.results.size(); ++leaf) {
    const auto buffer = static_cast<std::size_t>(group.results[leaf].buffer);
    run.result[buffer - first_made] = static_cast<int>(leaf);
  }
  run.made.assign(group.made.size(), nullptr);
  run.is_copied.assign(group.launches.size(), nullptr);
  for (std::size_t i = 0; i < group.made.size(); ++i) {
    const loops::MadeTensor& tensor = group.made[i];
    const int leaf = run.result[i];
    const bool is_spread =
        leaf >= 0 &&
        (tensor.shape.empty() ||
         flow::small_elements(run.kernels.results[static_cast<std::size_t>(leaf)]) > 0);
    if (is_spread || (leaf < 0 && bytes_of(tensor) <= kMostOnStack)) {
      const auto count =
          static_cast<std::uint64_t>(std::max<std::int64_t>(count_of(tensor.shape), 1));
      run.buffers.push_back(
          new_cell(llvm::ArrayType::get(memory_type(tensor.dtype), count), "made"));
    } else {
      make_tensor(step, i, run);
    }
  }
}

// A tensor of the pool; null where there is no memory.
Value* FunctionCodegen::room_for(const loops::MadeTensor& tensor) {
  Values shape;
  for (const std::int64_t extent : tensor.shape) shape.push_back(int64(extent));
  return call_service(
      services_.make_tensor, b_.getPtrTy(),
      {runner_, address(nullptr), b_.getInt8(static_cast<std::uint8_t>(tensor.dtype)),
       int64(static_cast<std::int64_t>(shape.size())), words_of(shape)});
}

// A tensor of its own, or the argument whose memory it may take.
void FunctionCodegen::make_tensor(const Step& step, std::size_t number, InnerRun& run) {
  const loops::MadeTensor& tensor = run.kernels.group.made[number];
  const auto fresh = [&] {
    Value* const made = room_for(tensor);
    leave_if(b_.CreateIsNull(made), step, [&] {
      release_made(run, number);
      release_taken(run);
    });
    return made;
  };
  const auto& all = run.kernels.group.reuse;
  const auto reuse = std::find_if(all.begin(), all.end(),
                                  [&](const loops::Reuse& each) { return each.made == number; });
  Value* result = nullptr;
  if (reuse == all.end()) {
    result = fresh();
  } else {
    constexpr std::int64_t kAlignment = 64;
    Value* const given = run.arguments[reuse->arg];
    Value* const place = b_.CreatePtrToInt(run.buffers[reuse->arg], b_.getInt64Ty());
    Value* const is_aligned = b_.CreateICmpEQ(b_.CreateAnd(place, int64(kAlignment - 1)), int64(0));
    Value* const is_free = b_.CreateAnd(is_own(given, tensor.shape.size()), is_aligned);
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    llvm::BasicBlock* const another = new_block("another");
    llvm::BasicBlock* const ready = new_block("ready");
    b_.CreateCondBr(is_free, ready, another, likely());
    b_.SetInsertPoint(another);
    Value* const made = fresh();
    llvm::BasicBlock* const made_in = b_.GetInsertBlock();
    b_.CreateBr(ready);
    b_.SetInsertPoint(ready);
    llvm::PHINode* const either = b_.CreatePHI(b_.getPtrTy(), 2);
    either->addIncoming(given, before);
    either->addIncoming(made, made_in);
    run.is_reused[reuse->arg] = is_free;
    if (reuse->copy) run.is_copied[*reuse->copy] = is_free;
    result = either;
    forget_content(result);
  }
  run.made[number] = result;
  run.buffers.push_back(load_header(b_.getPtrTy(), result, layout_.tensor_data));
}

// Those before `end`, which may be arguments.
void FunctionCodegen::release_made(const InnerRun& run, std::size_t end) {
  for (std::size_t i = 0; i < end; ++i) {
    if (run.made[i] != nullptr)
      release(run.made[i], {ValueKind::Tensor, run.kernels.group.made[i].dtype});
  }
}

// Arguments that are the step's, but for those that have become results.
void FunctionCodegen::release_taken(const InnerRun& run) {
  for (std::size_t leaf = 0; leaf < run.arguments.size(); ++leaf) {
    if (!run.kernels.is_taken[leaf]) continue;
    const SlotType type = {ValueKind::Tensor, DType::Bool};
    if (run.is_reused[leaf] == nullptr) {
      release(run.arguments[leaf], type);
      continue;
    }
    llvm::BasicBlock* const other = new_block("other");
    llvm::BasicBlock* const after = new_block("after");
    b_.CreateCondBr(run.is_reused[leaf], after, other);
    b_.SetInsertPoint(other);
    release(run.arguments[leaf], type);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }
}

// The status.
Value* FunctionCodegen::launch(const loops::Launch& launch, llvm::Function* function,
                               InnerRun& run) {
  llvm::Type* const pointer = b_.getPtrTy();
  llvm::AllocaInst* const buffers =
      new_cell(llvm::ArrayType::get(pointer, launch.buffers.size()), "buffers");
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    b_.CreateStore(run.buffers[static_cast<std::size_t>(launch.buffers[i])],
                   b_.CreateConstInBoundsGEP1_64(pointer, buffers, i));
  }
  std::vector<std::uint64_t> words(launch.sizes.begin(), launch.sizes.end());
  llvm::Constant* const sizes = llvm::ConstantDataArray::get(b_.getContext(), words);
  auto* const kept = new llvm::GlobalVariable(module_, sizes->getType(), /*isConstant=*/true,
                                              llvm::GlobalValue::PrivateLinkage, sizes, "sizes");
  std::int64_t outer = 1;
  if (launch.kernel.domain_rank > 0) {
    const loops::Size& size = launch.kernel.extents[0];
    outer = size.is_literal ? size.value : launch.sizes[static_cast<std::size_t>(size.value)];
  }
  llvm::AllocaInst* const error = new_cell(
      llvm::ArrayType::get(b_.getInt64Ty(), sizeof(loops::KernelError) / sizeof(std::int64_t)),
      "error");
  return b_.CreateCall(function, {buffers, kept, int64(0), int64(outer), error});
}

void FunctionCodegen::set_results(const Step& step, const InnerRun& run) {
  const loops::LoweredGroup& group = run.kernels.group;
  const std::size_t first_made = run.buffers.size() - group.made.size();
  std::size_t next = 0;
  for (const loops::ResultLeaf& leaf : group.results) {
    const auto buffer = static_cast<std::size_t>(leaf.buffer);
    const loops::MadeTensor& tensor = group.made[buffer - first_made];
    if (Value* const object = run.made[buffer - first_made]) {
      set(step.results[next++], object);
      continue;
    }
    llvm::Type* const type = memory_type(tensor.dtype);
    const auto count =
        static_cast<std::uint64_t>(std::max<std::int64_t>(count_of(tensor.shape), 1));
    for (std::uint64_t i = 0; i < count; ++i) {
      Value* const stored =
          b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(type, run.buffers[buffer], i));
      set(step.results[next++], scalars().from_memory(stored, tensor.dtype));
    }
  }
}

void FunctionCodegen::kernels(const Step& step) {
  const std::vector<llvm::Function*> functions = kernel_functions(*step.kernels);
  if (functions.empty()) {  // it is not reached
    for (const flow::Slot slot : step.results)
      set(slot, llvm::Constant::getNullValue(slot_type(source_->slots[slot])));
    return;
  }
  InnerRun run{*step.kernels, {}, {}, {}, {}, {}, {}};
  place_arguments(step, run);
  make_tensors(step, run);
  llvm::BasicBlock* const done = new_block("done");
  std::vector<llvm::BasicBlock*> failing;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    llvm::BasicBlock* const next = new_block("next");
    if (run.is_copied[i] != nullptr) {
      llvm::BasicBlock* const copy = new_block("copy");
      b_.CreateCondBr(run.is_copied[i], next, copy);
      b_.SetInsertPoint(copy);
    }
    Value* const status = launch(step.kernels->group.launches[i], functions[i], run);
    if (step.kernels->may_fail) {
      failing.push_back(b_.GetInsertBlock());
      b_.CreateCondBr(b_.CreateICmpNE(status, b_.getInt32(0)), done, next, unlikely());
    } else {
      b_.CreateBr(next);
    }
    b_.SetInsertPoint(next);
  }
  llvm::BasicBlock* const last = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  if (step.kernels->may_fail) {
    llvm::PHINode* const is_done = b_.CreatePHI(b_.getInt1Ty(), 2);
    for (llvm::BasicBlock* const block : failing) is_done->addIncoming(b_.getFalse(), block);
    is_done->addIncoming(b_.getTrue(), last);
    set(step.results.back(), is_done);
  }
  for (std::size_t i = 0; i < run.made.size(); ++i) {
    if (run.made[i] != nullptr && run.result[i] < 0)
      release(run.made[i], {ValueKind::Tensor, DType::Bool});
  }
  release_taken(run);
  set_results(step, run);
}

}  // namespace relay::jit
