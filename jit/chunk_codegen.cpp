#include <set>

#include "jit/function_codegen.h"

// Loops that several threads can run (flow::Step::is_parallel): the points of some indices along
// the outermost axis are a function of their own, a flow::Chunk, which is handed what the loop
// uses.
namespace relay::jit {

using flow::Slot;
using flow::Step;
using llvm::Value;

namespace {

void note_uses(const flow::Block& block, std::set<Slot>& used, std::set<Slot>& made) {
  const auto use = [&](const flow::Operand& operand) {
    if (operand.is_slot()) used.insert(operand.index);
  };
  for (const Step& step : block.steps) {
    for (const flow::Operand& arg : step.args) use(arg);
    for (const flow::LoopCheck& check : step.checks) {
      use(check.tensor);
      if (check.shift) use(*check.shift);
    }
    made.insert(step.results.begin(), step.results.end());
    made.insert(step.binders.begin(), step.binders.end());
    for (const flow::Block& inner : step.blocks) note_uses(inner, used, made);
    for (const flow::Arm& arm : step.arms) {
      for (const flow::Test& test : arm.tests) {
        use(test.cell);
        if (test.result != flow::kNoSlot) made.insert(test.result);
      }
      note_uses(arm.body, used, made);
    }
  }
  for (const flow::Operand& value : block.values) use(value);
}

// The slots from outside that the points of the loop use.
std::vector<Slot> captures_of(const Step& loop) {
  std::set<Slot> used;
  std::set<Slot> made(loop.binders.begin(), loop.binders.end());
  note_uses(loop.blocks[0], used, made);
  for (const flow::LoopCheck& check : loop.checks) {
    if (check.tensor.is_slot()) used.insert(check.tensor.index);
    if (check.shift && check.shift->is_slot()) used.insert(check.shift->index);
  }
  std::vector<Slot> captures;
  for (const Slot slot : used) {
    if (!made.contains(slot)) captures.push_back(slot);
  }
  return captures;
}

}  // namespace

Value* FunctionCodegen::first_of(const Step& step, std::size_t axis) {
  return axis == 0 && &step == chunk_loop_ ? chunk_begin_ : int64(0);
}

Value* FunctionCodegen::end_of(const Step& step, std::size_t axis, const Values& extents) {
  return axis == 0 && &step == chunk_loop_ ? chunk_end_ : extents[axis];
}

// Of a chunk: how far it is, so that it can tell where it gives up.
void FunctionCodegen::note_index(const Step& step, std::size_t axis, Value* index) {
  if (axis == 0 && &step == chunk_loop_) b_.CreateStore(index, chunk_index_);
}

// The chunk is handed what is captured, the extents, and where results begin, as words.
void FunctionCodegen::in_chunks(const Step& step, const Values& extents,
                                const std::vector<Stack>& stacks) {
  const std::vector<Slot> captures = captures_of(step);
  Values words;
  for (const Slot slot : captures) words.push_back(to_bits(values_[slot], source_->slots[slot]));
  words.insert(words.end(), extents.begin(), extents.end());
  for (const Stack& stack : stacks) words.push_back(b_.CreatePtrToInt(stack.data, b_.getInt64Ty()));
  llvm::AllocaInst* const context =
      new_cell(llvm::ArrayType::get(b_.getInt64Ty(), words.size()), "context");
  for (std::size_t i = 0; i < words.size(); ++i)
    b_.CreateStore(words[i], b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), context, i));
  FunctionCodegen inner(*this);
  llvm::Function* const chunk = inner.emit_chunk(*source_, step, captures, stacks);
  Value* const status =
      call_service(services_.parallel, b_.getInt32Ty(), {runner_, chunk, context, extents[0]});
  llvm::BasicBlock* const on = new_block("on");
  b_.CreateCondBr(b_.CreateICmpNE(status, b_.getInt32(0)), fail_, on, unlikely());
  b_.SetInsertPoint(on);
}

llvm::Function* FunctionCodegen::emit_chunk(const flow::Function& function, const Step& step,
                                            const std::vector<Slot>& captures,
                                            std::vector<Stack> stacks) {
  llvm::Type* const word = b_.getInt64Ty();
  llvm::Type* const pointer = b_.getPtrTy();
  begin(function);
  function_ =
      llvm::Function::Create(llvm::FunctionType::get(word, {pointer, pointer, word, word}, false),
                             llvm::Function::InternalLinkage, function.symbol + ".chunk", module_);
  function_->setDoesNotThrow();
  runner_ = function_->getArg(0);
  chunk_loop_ = &step;
  chunk_begin_ = function_->getArg(2);
  chunk_end_ = function_->getArg(3);
  b_.SetInsertPoint(new_block("entry"));
  fail_ = new_block("failed");
  std::uint64_t next = 0;
  const auto captured = [&] {
    return b_.CreateLoad(word, b_.CreateConstInBoundsGEP1_64(word, function_->getArg(1), next++));
  };
  for (const Slot slot : captures) {
    set(slot, from_bits(captured(), function.slots[slot]));
    if (function.slots[slot].kind == lang::ValueKind::Tensor) lent_.insert(values_[slot]);
  }
  Values extents;
  for (std::size_t i = 0; i < step.binders.size(); ++i) extents.push_back(captured());
  for (Stack& stack : stacks) stack.data = b_.CreateIntToPtr(captured(), pointer);
  chunk_index_ = new_cell(word, "at");
  b_.CreateStore(chunk_begin_, chunk_index_);
  stack_points(step, stacks, extents);
  b_.CreateRet(int64(-1));
  b_.SetInsertPoint(fail_);
  b_.CreateRet(b_.CreateLoad(word, chunk_index_));
  return function_;
}

}  // namespace relay::jit
