#include <algorithm>

#include "jit/counted_loop.h"
#include "jit/function_codegen.h"
#include "loops/reduce_op.h"
#include "loops/reduction_tree.h"

namespace relay::jit {

using flow::Step;
using lang::Prim;
using lang::ReduceOp;
using llvm::Value;

// The extents, and how many points there are.
FunctionCodegen::Values FunctionCodegen::extents_of(const Step& step, Value*& points) {
  Values extents;
  for (std::size_t i = 0; i < step.args.size(); ++i) {
    extents.push_back(index_value(step.args[i]));
    leave_if(b_.CreateICmpSLT(extents.back(), int64(0)), step, [&] {
      call_service(services_.negative_extent, b_.getInt32Ty(),
                   {runner_, address(step.binder_sites[i]), extents.back()});
    });
  }
  points = extents[0];
  if (extents.size() == 1) return extents;
  // A product with a 0 may overflow before it comes to that.
  Value* overflows = b_.getFalse();
  Value* is_empty = b_.CreateICmpEQ(points, int64(0));
  for (std::size_t i = 1; i < extents.size(); ++i) {
    Value* const both =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, points, extents[i]);
    points = b_.CreateExtractValue(both, 0);
    overflows = b_.CreateOr(overflows, b_.CreateExtractValue(both, 1));
    is_empty = b_.CreateOr(is_empty, b_.CreateICmpEQ(extents[i], int64(0)));
  }
  points = b_.CreateSelect(is_empty, int64(0), points);
  leave_if(b_.CreateAnd(overflows, b_.CreateNot(is_empty)), step, [&] {
    call_service(services_.too_many_steps, b_.getInt32Ty(),
                 {runner_, address(step.binder_sites[0]),
                  int64(static_cast<std::int64_t>(extents.size())), words_of(extents)});
  });
  return extents;
}

void FunctionCodegen::poll() {
  Value* const limit = frame_limit();
  llvm::BasicBlock* const cold = new_block("stopped");
  llvm::BasicBlock* const on = new_block("on");
  b_.CreateCondBr(b_.CreateICmpEQ(limit, int64(-1)), cold, on, unlikely());
  b_.SetInsertPoint(cold);
  call_service(services_.at_limit, b_.getInt32Ty(), {runner_});
  b_.CreateBr(fail_);
  b_.SetInsertPoint(on);
}

// for every point, row-major: point(its number).
void FunctionCodegen::nest(const Step& step, const Values& extents,
                           const std::function<void(Value*)>& point) {
  const std::function<void(std::size_t, Value*)> axis = [&](std::size_t i, Value* row) {
    if (i == extents.size()) {
      poll();
      point(row);
      return;
    }
    Value* const first = b_.CreateMul(row, extents[i]);
    counted_loop(b_, first_of(step, i), end_of(step, i, extents), 1, [&](Value* index) {
      set(step.binders[i], index);
      note_index(step, i, index);
      axis(i + 1, b_.CreateAdd(first, index));
    });
  };
  axis(0, int64(0));
}

FunctionCodegen::Stack FunctionCodegen::begin_stack(const Step& step, std::size_t part_number,
                                                    const Values& extents, const Emit& failed) {
  const lang::Type& type = step.parts[part_number];
  const flow::Slot result = step.results[part_number];
  Stack stack{source_->slots[result].dtype};
  std::vector<lang::Dim> dims = lang::as<lang::TensorType>(type)->shape.dims();
  stack.elements = dims.empty() ? 1 : flow::yielded_elements(type);
  if (stack.elements == 0) {
    stack.whole = new_cell(b_.getPtrTy(), "stack");
    b_.CreateStore(llvm::ConstantPointerNull::get(b_.getPtrTy()), stack.whole);
    return stack;
  }
  Values shape = extents;
  for (const lang::Dim& dim : dims) shape.push_back(int64(dim.constant()));
  Value* const tensor =
      call_service(services_.make_tensor, b_.getPtrTy(),
                   {runner_, address(step.site), b_.getInt8(static_cast<std::uint8_t>(stack.dtype)),
                    int64(static_cast<std::int64_t>(shape.size())), words_of(shape)});
  leave_if(b_.CreateIsNull(tensor), step, failed);
  set(result, tensor);
  stack.data = load_header(b_.getPtrTy(), tensor, layout_.tensor_data);
  return stack;
}

// In memory, for a service.
Value* FunctionCodegen::words_of(const Values& values) {
  llvm::AllocaInst* const words = scratch((values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    b_.CreateStore(values[i], part(words, i * sizeof(std::int64_t)));
  return words;
}

// `values`: what the body yields, from `next` on.
void FunctionCodegen::store_point(const Step& step, const Stack& stack, const Values& extents,
                                  Value* linear, const Values& values, std::size_t next,
                                  const Emit& failed) {
  if (stack.whole == nullptr) {
    Value* const first = b_.CreateMul(linear, int64(static_cast<std::int64_t>(stack.elements)));
    for (std::size_t i = 0; i < stack.elements; ++i) {
      Value* const at = b_.CreateAdd(first, int64(static_cast<std::int64_t>(i)));
      Value* const stored = scalars().to_memory(values[next + i], stack.dtype);
      b_.CreateStore(stored, b_.CreateGEP(memory_type(stack.dtype), stack.data, at));
    }
    return;
  }
  Value* const status = call_service(
      services_.put_point, b_.getInt32Ty(),
      {runner_, address(step.site), stack.whole, int64(static_cast<std::int64_t>(extents.size())),
       words_of(extents), linear, values[next]});
  llvm::BasicBlock* const cold = new_block("not_put");
  llvm::BasicBlock* const on = new_block("put");
  b_.CreateCondBr(b_.CreateICmpNE(status, b_.getInt32(0)), cold, on, unlikely());
  b_.SetInsertPoint(cold);
  failed();
  b_.CreateBr(fail_);
  b_.SetInsertPoint(on);
}

// Sets the result behind the loop.
void FunctionCodegen::end_stack(const Step& step, std::size_t part_number, const Stack& stack,
                                const Values& extents) {
  if (stack.whole == nullptr) return;
  llvm::BasicBlock* const none = new_block("no_points");
  llvm::BasicBlock* const on = new_block("stacked");
  Value* const whole = b_.CreateLoad(b_.getPtrTy(), stack.whole);
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateIsNull(whole), none, on, unlikely());
  b_.SetInsertPoint(none);
  const auto* tuple = lang::as<lang::TupleType>(step.type);
  const lang::Type& type = tuple ? tuple->fields[part_number] : step.type;
  Value* const empty =
      call_service(services_.stack_of_none, b_.getPtrTy(),
                   {runner_, address(type.get()), int64(static_cast<std::int64_t>(extents.size())),
                    words_of(extents)});
  llvm::BasicBlock* const made = new_block("made");
  b_.CreateCondBr(b_.CreateIsNull(empty), fail_, made, unlikely());
  b_.SetInsertPoint(made);
  b_.CreateStore(empty, stack.whole);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
  llvm::PHINode* const result = b_.CreatePHI(b_.getPtrTy(), 2);
  result->addIncoming(whole, before);
  result->addIncoming(empty, made);
  set(step.results[part_number], result);
}

void FunctionCodegen::stack_points(const Step& step, const std::vector<Stack>& stacks,
                                   const Values& extents) {
  const flow::Block& body = step.blocks[0];
  over_points(step, extents, [&](Value* linear) {
    steps(body);
    const Values values = arguments(body.values);
    std::size_t next = 0;
    for (const Stack& stack : stacks) {
      const std::size_t behind = next + std::max<std::size_t>(stack.elements, 1);
      store_point(step, stack, extents, linear, values, next, [&, behind] {
        for (std::size_t i = behind; i < values.size(); ++i) {
          const flow::SlotType type = type_of(body.values[i]);
          if (type.is_object()) release(values[i], type);
        }
      });
      next = behind;
    }
  });
}

void FunctionCodegen::comprehension(const Step& step) {
  Value* points = nullptr;
  const Values extents = extents_of(step, points);
  std::vector<Stack> stacks;
  const auto give_up = [&] {
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      const flow::SlotType& type = source_->slots[step.results[i]];
      if (stacks[i].whole == nullptr) {
        release(values_[step.results[i]], type);
        continue;
      }
      llvm::BasicBlock* const some = new_block("some");
      llvm::BasicBlock* const gone = new_block("gone");
      Value* const whole = b_.CreateLoad(b_.getPtrTy(), stacks[i].whole);
      b_.CreateCondBr(b_.CreateIsNull(whole), gone, some);
      b_.SetInsertPoint(some);
      release(whole, type);
      b_.CreateBr(gone);
      b_.SetInsertPoint(gone);
    }
  };
  for (std::size_t i = 0; i < step.parts.size(); ++i)
    stacks.push_back(begin_stack(step, i, extents, give_up));
  llvm::BasicBlock* const outer = fail_;
  llvm::BasicBlock* const failed = new_block("loop_failed");
  fail_ = failed;
  if (step.is_parallel) {
    in_chunks(step, extents, stacks);
  } else {
    stack_points(step, stacks, extents);
  }
  for (std::size_t i = 0; i < stacks.size(); ++i) end_stack(step, i, stacks[i], extents);
  fail_ = outer;
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(failed);
  give_up();
  fail_after(step);
}

void FunctionCodegen::fold(const Step& step) {
  Value* points = nullptr;
  const Values extents = extents_of(step, points);
  const bool is_arg = loops::is_arg(step.reduce);
  if (is_arg || step.reduce == ReduceOp::Max || step.reduce == ReduceOp::Min) {
    leave_if(b_.CreateICmpEQ(points, int64(0)), step, [&] {
      call_service(
          services_.nothing_to_fold, b_.getInt32Ty(),
          {runner_, address(step.site), b_.getInt8(static_cast<std::uint8_t>(step.reduce))});
    });
  }
  llvm::BasicBlock* const outer = fail_;
  llvm::BasicBlock* const failed = new_block("fold_failed");
  fail_ = failed;
  if (is_arg) {
    fold_arg(step, extents);
  } else if (lang::is_float(step.dtype)) {
    fold_lanes(step, extents);
  } else {
    fold_exact(step, extents);
  }
  fail_ = outer;
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(failed);
  fail_after(step);
}

// The order changes nothing.
void FunctionCodegen::fold_exact(const Step& step, const Values& extents) {
  llvm::Type* const type = scalars().type(step.dtype);
  llvm::AllocaInst* const sum = new_cell(type, "sum");
  b_.CreateStore(scalars().constant(step.dtype, loops::identity_bits(step.reduce, step.dtype)),
                 sum);
  over_points(step, extents, [&](Value*) {
    steps(step.blocks[0]);
    Value* const element = operand(step.blocks[0].values[0]);
    b_.CreateStore(scalars().binary(loops::prim_of(step.reduce), step.dtype,
                                    b_.CreateLoad(type, sum), element),
                   sum);
  });
  set(step.results[0], b_.CreateLoad(type, sum));
}

// The first of the largest (smallest) elements; NaN beats numbers.
void FunctionCodegen::fold_arg(const Step& step, const Values& extents) {
  llvm::Type* const type = scalars().type(step.dtype);
  llvm::AllocaInst* const best = new_cell(type, "best");
  llvm::AllocaInst* const best_at = new_cell(b_.getInt64Ty(), "best_at");
  b_.CreateStore(llvm::Constant::getNullValue(type), best);
  b_.CreateStore(int64(0), best_at);
  const Prim order = step.reduce == ReduceOp::ArgMax ? Prim::Gt : Prim::Lt;
  over_points(step, extents, [&](Value* linear) {
    steps(step.blocks[0]);
    Value* const element = operand(step.blocks[0].values[0]);
    Value* const old = b_.CreateLoad(type, best);
    Value* wins = scalars().compare(order, step.dtype, element, old);
    if (lang::is_float(step.dtype)) {
      wins = b_.CreateOr(wins, scalars().is_nan(element));
      wins = b_.CreateAnd(wins, b_.CreateNot(scalars().is_nan(old)));
    }
    wins = b_.CreateOr(wins, b_.CreateICmpEQ(linear, int64(0)));
    b_.CreateStore(b_.CreateSelect(wins, element, old), best);
    Value* const old_at = b_.CreateLoad(b_.getInt64Ty(), best_at);
    b_.CreateStore(b_.CreateSelect(wins, linear, old_at), best_at);
  });
  set(step.results[0], b_.CreateLoad(b_.getInt64Ty(), best_at));
}

}  // namespace relay::jit
