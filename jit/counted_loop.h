#pragma once

#include <cstdint>

#include "jit/llvm.h"

namespace relay::jit {

// Emits for (i = begin; i < end; i += step) body(i), of int64; what comes next is emitted behind
// it.
template <class Body>
void counted_loop(llvm::IRBuilder<>& b, llvm::Value* begin, llvm::Value* end, std::int64_t step,
                  Body body) {
  llvm::BasicBlock* const before = b.GetInsertBlock();
  const auto new_block = [&](const char* name) {
    return llvm::BasicBlock::Create(b.getContext(), name, before->getParent());
  };
  llvm::BasicBlock* const head = new_block("loop");
  llvm::BasicBlock* const after = new_block("after");
  b.CreateCondBr(b.CreateICmpSLT(begin, end), head, after);
  b.SetInsertPoint(head);
  llvm::PHINode* const index = b.CreatePHI(b.getInt64Ty(), 2, "i");
  index->addIncoming(begin, before);
  body(static_cast<llvm::Value*>(index));
  llvm::Value* const next = b.CreateNSWAdd(index, b.getInt64(static_cast<std::uint64_t>(step)));
  index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), head, after);
  b.SetInsertPoint(after);
}

}  // namespace relay::jit
