// Cells that are made before what stands in them, and numbers that a result is combined with:
// Block::cells, Block::accumulated.

#include "jit/function_codegen.h"
#include "loops/reduce_op.h"

namespace relay::jit {

using flow::Block;
using flow::SlotType;
using llvm::Value;

namespace {

constexpr SlotType kEmpty = {lang::ValueKind::Empty, lang::DType::Bool};

// The number that changes nothing.
std::uint64_t neutral_of(const flow::Accumulated& accumulated) {
  const lang::DType dtype = accumulated.dtype;
  switch (accumulated.prim) {
    case lang::Prim::Mul:
      return loops::identity_bits(lang::ReduceOp::Prod, dtype);
    case lang::Prim::Min:
      return loops::identity_bits(lang::ReduceOp::Min, dtype);
    case lang::Prim::Max:
      return loops::identity_bits(lang::ReduceOp::Max, dtype);
    case lang::Prim::And:
      return dtype == lang::DType::Bool ? 1 : lang::bits_from_int(dtype, -1);
    default:
      return 0;
  }
}

}  // namespace

void FunctionCodegen::begin_filling(const Block& block) {
  filling_.count = new_cell(b_.getInt64Ty(), "count");
  b_.CreateStore(int64(0), filling_.count);
  if (block.accumulated) {
    filling_.by = &*block.accumulated;
    filling_.sum = new_cell(scalars().type(filling_.by->dtype), "sum");
    b_.CreateStore(scalars().constant(filling_.by->dtype, neutral_of(*filling_.by)), filling_.sum);
    return;
  }
  filling_.first = new_cell(b_.getPtrTy(), "first");
  filling_.place = new_cell(b_.getPtrTy(), "place");
  Value* const none = llvm::ConstantPointerNull::get(b_.getPtrTy());
  b_.CreateStore(none, filling_.first);
  b_.CreateStore(none, filling_.place);
}

void FunctionCodegen::accumulate(const flow::Accumulated& accumulated) {
  b_.CreateStore(with_sum(operand(accumulated.number)), filling_.sum);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), filling_.count), int64(1)),
                 filling_.count);
}

Value* FunctionCodegen::with_sum(Value* value) {
  Value* const sum = b_.CreateLoad(scalars().type(filling_.by->dtype), filling_.sum);
  return scalars().binary(filling_.by->prim, filling_.by->dtype, sum, value);
}

// Cells with empty places, the first in the place that waited, or as the first one of all.
void FunctionCodegen::fill_with_cells(const Block& block, const Values& args) {
  for (auto cell = block.cells.begin(); cell != block.cells.end(); ++cell) {
    Value* const made = make_cell(cell->constructor, cell->fields.size(), [&] {
      for (auto rest = cell; rest != block.cells.end(); ++rest) give_back_fields(*rest);
      give_back_arguments(args);
      b_.CreateBr(fail_);
    });
    const auto kind = lang::ValueKind::Adt;
    for (std::size_t i = 0; i < cell->fields.size(); ++i) {
      if (i == cell->place) continue;
      store_value(field_place(made, kind, i), operand(cell->fields[i]), type_of(cell->fields[i]));
    }
    Value* const place = field_place(made, kind, cell->place);
    store_value(place, llvm::ConstantPointerNull::get(b_.getPtrTy()), kEmpty);
    put_in_place(made);
    b_.CreateStore(place, filling_.place);
  }
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), filling_.count), int64(1)),
                 filling_.count);
}

void FunctionCodegen::give_back_fields(const flow::Filled& cell) {
  for (std::size_t i = 0; i < cell.fields.size(); ++i) {
    const SlotType type = type_of(cell.fields[i]);
    if (i != cell.place && type.is_object()) release(operand(cell.fields[i]), type);
  }
}

// Stores what the place waits for; the first cell, where there is none yet.
void FunctionCodegen::put_in_place(Value* value) {
  llvm::BasicBlock* const begin = new_block("begin");
  llvm::BasicBlock* const next = new_block("next");
  llvm::BasicBlock* const on = new_block("on");
  Value* const waiting = b_.CreateLoad(b_.getPtrTy(), filling_.place);
  b_.CreateCondBr(b_.CreateIsNull(waiting), begin, next);
  b_.SetInsertPoint(begin);
  b_.CreateStore(value, filling_.first);
  b_.CreateBr(on);
  b_.SetInsertPoint(next);
  store_value(waiting, value, source_->results[0]);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

// The cells go, and the calls that have filled them are told.
void FunctionCodegen::give_up_filling(const flow::Site* site) {
  llvm::BasicBlock* const tell = new_block("tell");
  llvm::BasicBlock* const told = new_block("told");
  if (filling_.first != nullptr) {
    llvm::BasicBlock* const some = new_block("some");
    llvm::BasicBlock* const gone = new_block("gone");
    Value* const first = b_.CreateLoad(b_.getPtrTy(), filling_.first);
    b_.CreateCondBr(b_.CreateIsNull(first), gone, some);
    b_.SetInsertPoint(some);
    release(first, source_->results[0]);
    b_.CreateBr(gone);
    b_.SetInsertPoint(gone);
  }
  Value* const count = b_.CreateLoad(b_.getInt64Ty(), filling_.count);
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSGT(count, int64(0)), tell, told);
  b_.SetInsertPoint(tell);
  llvm::PHINode* const left = b_.CreatePHI(b_.getInt64Ty(), 2);
  left->addIncoming(count, before);
  call_service(services_.leave, b_.getVoidTy(), {runner_, address(site)});
  Value* const rest = b_.CreateSub(left, int64(1));
  left->addIncoming(rest, tell);
  b_.CreateCondBr(b_.CreateICmpSGT(rest, int64(0)), tell, told);
  b_.SetInsertPoint(told);
}

}  // namespace relay::jit
