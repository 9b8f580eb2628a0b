#include "jit/counted_loop.h"
#include "jit/function_codegen.h"

// Loops in which nothing can fail once some conditions hold that are looked at before
// (flow/plain_loops): LLVM makes vectors of them. Where one does not hold, the loop is as any
// other.
namespace relay::jit {

using flow::Step;
using flow::StepKind;
using llvm::Value;

namespace {

constexpr std::int64_t kPointsBetweenPolls = 1024;

void collect_elements(const flow::Block& block, std::vector<const Step*>& elements) {
  for (const Step& step : block.steps) {
    if (step.kind == StepKind::Element) elements.push_back(&step);
    for (const flow::Block& inner : step.blocks) collect_elements(inner, elements);
  }
}

}  // namespace

Value* FunctionCodegen::holds(const flow::LoopCheck& check, const Values& extents) {
  Value* const extent = extent_of(operand(check.tensor), check.axis);
  if (!check.binder) return b_.CreateICmpULT(index_value(*check.shift), extent);
  Value* const points = extents[*check.binder];
  if (!check.shift) return b_.CreateICmpSLE(points, extent);
  Value* first = index_value(*check.shift);
  if (check.subtracts) first = b_.CreateNeg(first);
  Value* const both = b_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_with_overflow, first, points);
  Value* const is_within = b_.CreateAnd(b_.CreateICmpSGE(first, int64(0)),
                                        b_.CreateICmpSLE(b_.CreateExtractValue(both, 0), extent));
  return b_.CreateAnd(is_within, b_.CreateNot(b_.CreateExtractValue(both, 1)));
}

// The loop by `plain` where nothing can fail, else by `other`.
void FunctionCodegen::where_plain(const Step& step, const Values& extents, const Emit& plain,
                                  const Emit& other) {
  if (!step.is_plain) return other();
  Value* is_plain = b_.getTrue();
  for (const flow::LoopCheck& check : step.checks)
    is_plain = b_.CreateAnd(is_plain, holds(check, extents));
  llvm::BasicBlock* const quick = new_block("plain");
  llvm::BasicBlock* const careful = new_block("careful");
  llvm::BasicBlock* const after = new_block("after");
  b_.CreateCondBr(is_plain, quick, careful, likely());
  b_.SetInsertPoint(quick);
  const auto headers = headers_;
  std::vector<const Step*> elements;
  collect_elements(step.blocks[0], elements);
  for (const Step* element : elements) {
    Value* const tensor = operand(element->args[0]);
    if (!headers_.contains(tensor)) know_header(tensor, element->args.size() - 1);
  }
  nothing_fails_ = true;
  plain();
  nothing_fails_ = false;
  headers_ = headers;
  b_.CreateBr(after);
  b_.SetInsertPoint(careful);
  other();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionCodegen::over_points(const Step& step, const Values& extents,
                                  const std::function<void(Value*)>& point) {
  where_plain(
      step, extents, [&] { plain_nest(step, extents, point); },
      [&] { nest(step, extents, point); });
}

// As nest(), with a poll now and then: the innermost loop is but its body.
void FunctionCodegen::plain_nest(const Step& step, const Values& extents,
                                 const std::function<void(Value*)>& point) {
  const std::size_t last = extents.size() - 1;
  const std::function<void(std::size_t, Value*)> axis = [&](std::size_t i, Value* row) {
    Value* const first = b_.CreateMul(row, extents[i]);
    if (i < last) {
      counted_loop(b_, first_of(step, i), end_of(step, i, extents), 1, [&](Value* index) {
        set(step.binders[i], index);
        note_index(step, i, index);
        axis(i + 1, b_.CreateAdd(first, index));
      });
      return;
    }
    Value* const last_end = end_of(step, i, extents);
    counted_loop(b_, first_of(step, i), last_end, kPointsBetweenPolls, [&](Value* begin) {
      note_index(step, i, begin);
      poll();
      Value* const end = b_.CreateBinaryIntrinsic(
          llvm::Intrinsic::smin, b_.CreateAdd(begin, int64(kPointsBetweenPolls)), last_end);
      counted_loop(b_, begin, end, 1, [&](Value* index) {
        set(step.binders[i], index);
        point(b_.CreateAdd(first, index));
      });
    });
  };
  axis(0, int64(0));
}

}  // namespace relay::jit
