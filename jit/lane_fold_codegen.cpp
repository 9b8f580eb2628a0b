#include "jit/counted_loop.h"
#include "jit/function_codegen.h"
#include "loops/reduce_op.h"
#include "loops/reduction_tree.h"

// Folds of floats, in the order of loops/loop_ir.h: 16 lanes, and a tree over blocks of them.
namespace relay::jit {

using flow::Step;
using lang::DType;
using lang::Prim;
using llvm::Value;
using loops::kReductionBlock;
using loops::kReductionLanes;

struct FunctionCodegen::LaneFold {
  bool has_blocks;
  DType dtype;
  Prim prim;
  llvm::Type* type;
  Value* identity;
  llvm::Function* combine;
  llvm::AllocaInst* lanes;
  llvm::AllocaInst* sum;
  // Where there are blocks: the results that wait, by level.
  llvm::AllocaInst* waiting = nullptr;
  llvm::AllocaInst* level = nullptr;
};

// A function of 16 lanes in memory: their combination.
llvm::Function* FunctionCodegen::lane_combiner(Prim prim, DType dtype) {
  const std::string name = "combine_" + std::to_string(static_cast<int>(prim)) + "_" +
                           std::to_string(static_cast<int>(dtype));
  if (llvm::Function* const known = module_.getFunction(name)) return known;
  llvm::Type* const type = scalars().type(dtype);
  auto* const function =
      llvm::Function::Create(llvm::FunctionType::get(type, {b_.getPtrTy()}, false),
                             llvm::Function::InternalLinkage, name, module_);
  function->setDoesNotThrow();
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function));
  Values lanes;
  for (int i = 0; i < kReductionLanes; ++i)
    lanes.push_back(b_.CreateLoad(
        type, b_.CreateConstGEP1_64(type, function->getArg(0), static_cast<std::uint64_t>(i))));
  for (std::size_t width = lanes.size() / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i)
      lanes[i] = scalars().binary(prim, dtype, lanes[i], lanes[i + width]);
  }
  b_.CreateRet(lanes[0]);
  return function;
}

FunctionCodegen::LaneFold FunctionCodegen::begin_lanes(const Step& step) {
  LaneFold fold{};
  fold.has_blocks = loops::has_blocks(step.reduce, step.dtype);
  fold.dtype = fold.has_blocks && lang::size_of(step.dtype) < 4 ? DType::Float32 : step.dtype;
  fold.prim = loops::prim_of(step.reduce);
  fold.type = scalars().type(fold.dtype);
  fold.identity = scalars().constant(fold.dtype, loops::identity_bits(step.reduce, fold.dtype));
  fold.combine = lane_combiner(fold.prim, fold.dtype);
  fold.lanes = new_cell(llvm::ArrayType::get(fold.type, kReductionLanes), "lanes");
  fold.sum = new_cell(fold.type, "sum");
  if (!fold.has_blocks) return fold;
  constexpr std::uint64_t kLevels = 64;
  fold.waiting = new_cell(llvm::ArrayType::get(fold.type, kLevels), "waiting");
  fold.level = new_cell(b_.getInt64Ty(), "level");
  return fold;
}

void FunctionCodegen::clear_lanes(const LaneFold& fold) {
  for (std::uint64_t i = 0; i < kReductionLanes; ++i)
    b_.CreateStore(fold.identity, b_.CreateConstGEP1_64(fold.type, fold.lanes, i));
}

// The element is what the step yields; of a dot, the product of both, added with one rounding.
void FunctionCodegen::add_to_lane(const Step& step, const LaneFold& fold, Value* lanes,
                                  Value* lane) {
  const std::vector<flow::Operand>& yields = step.blocks[0].values;
  Value* const place = b_.CreateInBoundsGEP(fold.type, lanes, lane);
  Value* const old = b_.CreateLoad(fold.type, place);
  Value* const element = operand(yields[0]);
  Value* const sum = step.reduce == lang::ReduceOp::Dot
                         ? b_.CreateIntrinsic(llvm::Intrinsic::fma, {fold.type},
                                              {element, operand(yields[1]), old})
                         : scalars().binary(fold.prim, fold.dtype, old, element);
  b_.CreateStore(sum, place);
}

// Folds what waits at the levels from 0 up into the sum: while they are taken, as `blocks` says, or
// at the end all that are.
void FunctionCodegen::fold_waiting(const LaneFold& fold, Value* blocks, bool at_end) {
  llvm::BasicBlock* const head = new_block("level");
  llvm::BasicBlock* const body = new_block("fold");
  llvm::BasicBlock* const next = new_block("next_level");
  llvm::BasicBlock* const done = new_block("folded");
  b_.CreateStore(int64(0), fold.level);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  Value* const at = b_.CreateLoad(b_.getInt64Ty(), fold.level);
  Value* const rest = b_.CreateLShr(blocks, at);
  Value* const is_taken = b_.CreateTrunc(rest, b_.getInt1Ty());
  if (at_end) {
    llvm::BasicBlock* const look = new_block("look");
    b_.CreateCondBr(b_.CreateICmpEQ(rest, int64(0)), done, look);
    b_.SetInsertPoint(look);
    b_.CreateCondBr(is_taken, body, next);
  } else {
    b_.CreateCondBr(is_taken, body, done);
  }
  b_.SetInsertPoint(body);
  Value* const other = b_.CreateLoad(fold.type, b_.CreateGEP(fold.type, fold.waiting, at));
  Value* const sum = b_.CreateLoad(fold.type, fold.sum);
  b_.CreateStore(scalars().binary(fold.prim, fold.dtype, other, sum), fold.sum);
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  b_.CreateStore(b_.CreateAdd(at, int64(1)), fold.level);
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
}

// The lanes are those of a whole block, and `before` have been closed.
void FunctionCodegen::close_block(const LaneFold& fold, Value* before) {
  b_.CreateStore(b_.CreateCall(fold.combine, {fold.lanes}), fold.sum);
  // Their number's lowest ones say which levels are taken.
  fold_waiting(fold, before, false);
  Value* const level = b_.CreateLoad(b_.getInt64Ty(), fold.level);
  b_.CreateStore(b_.CreateLoad(fold.type, fold.sum), b_.CreateGEP(fold.type, fold.waiting, level));
  clear_lanes(fold);
}

// What the lanes and `blocks` closed blocks come to, in the sum.
void FunctionCodegen::end_lanes(const LaneFold& fold, Value* lanes, Value* blocks) {
  b_.CreateStore(b_.CreateCall(fold.combine, {lanes}), fold.sum);
  if (fold.has_blocks) fold_waiting(fold, blocks, true);
}

void FunctionCodegen::fold_lanes(const Step& step, const Values& extents) {
  const LaneFold fold = begin_lanes(step);
  const auto by_points = [&](bool is_plain) {
    llvm::AllocaInst* const count = new_cell(b_.getInt64Ty(), "count");
    b_.CreateStore(int64(0), count);
    clear_lanes(fold);
    const auto point = [&](Value* linear) {
      steps(step.blocks[0]);
      add_to_lane(step, fold, fold.lanes, b_.CreateAnd(linear, int64(kReductionLanes - 1)));
      Value* const done = b_.CreateAdd(linear, int64(1));
      b_.CreateStore(done, count);
      if (!fold.has_blocks) return;
      llvm::BasicBlock* const full = new_block("block_full");
      llvm::BasicBlock* const on = new_block("on");
      Value* const within = b_.CreateAnd(done, int64(kReductionBlock - 1));
      b_.CreateCondBr(b_.CreateICmpEQ(within, int64(0)), full, on, unlikely());
      b_.SetInsertPoint(full);
      close_block(fold, b_.CreateLShr(linear, int64(kBlockBits)));
      b_.CreateBr(on);
      b_.SetInsertPoint(on);
    };
    if (is_plain) {
      plain_nest(step, extents, point);
    } else {
      nest(step, extents, point);
    }
    Value* const done = b_.CreateLoad(b_.getInt64Ty(), count);
    end_lanes(fold, fold.lanes, b_.CreateLShr(done, int64(kBlockBits)));
  };
  where_plain(
      step, extents,
      [&] {
        if (extents.size() == 1) {
          fold_rows(step, fold, extents[0]);
        } else {
          by_points(true);
        }
      },
      [&] { by_points(false); });
  set(step.results[0], scalars().round_to(b_.CreateLoad(fold.type, fold.sum), step.dtype));
}

// Of one index: 16 elements at a time, one for each lane, in a loop that LLVM makes vectors of.
void FunctionCodegen::fold_rows(const Step& step, const LaneFold& fold, Value* extent) {
  const auto add = [&](Value* lanes, Value* lane, Value* index) {
    set(step.binders[0], index);
    steps(step.blocks[0]);
    add_to_lane(step, fold, lanes, lane);
  };
  const auto rows = [&](Value* begin, Value* end) {
    counted_loop(b_, begin, end, kReductionLanes, [&](Value* first) {
      counted_loop(b_, int64(0), int64(kReductionLanes), 1,
                   [&](Value* lane) { add(fold.lanes, lane, b_.CreateNSWAdd(first, lane)); });
    });
  };
  clear_lanes(fold);
  Value* const blocks = b_.CreateLShr(extent, int64(kBlockBits));
  counted_loop(b_, int64(0), blocks, 1, [&](Value* block) {
    poll();
    Value* const begin = b_.CreateShl(block, int64(kBlockBits));
    rows(begin, b_.CreateAdd(begin, int64(kReductionBlock)));
    if (fold.has_blocks) close_block(fold, block);
  });
  Value* const begin = b_.CreateShl(blocks, int64(kBlockBits));
  Value* const end = b_.CreateAnd(extent, int64(-kReductionLanes));
  rows(begin, end);
  // The lanes of the rest are in memory of their own, so that those above need be in none.
  llvm::AllocaInst* const rest = new_cell(llvm::ArrayType::get(fold.type, kReductionLanes), "rest");
  for (std::uint64_t i = 0; i < kReductionLanes; ++i) {
    Value* const lane = b_.CreateLoad(fold.type, b_.CreateConstGEP1_64(fold.type, fold.lanes, i));
    b_.CreateStore(lane, b_.CreateConstGEP1_64(fold.type, rest, i));
  }
  counted_loop(b_, end, extent, 1,
               [&](Value* index) { add(rest, b_.CreateSub(index, end), index); });
  end_lanes(fold, rest, blocks);
}

}  // namespace relay::jit
