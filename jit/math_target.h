#pragma once

#include <cstdint>

#include "jit/llvm.h"

namespace relay::jit {

// What the targets that emit code have in common: operations on one lane, or on vectors of `width`
// lanes, of any type.
class LlvmOperations {
 public:
  using F = llvm::Value*;
  using I = llvm::Value*;
  using B = llvm::Value*;

  LlvmOperations(llvm::IRBuilder<>& builder, int width) : b_(builder), width_(width) {}

  F add(F a, F b) { return b_.CreateFAdd(a, b); }
  F sub(F a, F b) { return b_.CreateFSub(a, b); }
  F mul(F a, F b) { return b_.CreateFMul(a, b); }
  F div(F a, F b) { return b_.CreateFDiv(a, b); }
  F abs(F a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a); }
  F sqrt(F a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a); }
  F fma(F a, F b, F c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }
  B lt(F a, F b) { return b_.CreateFCmpOLT(a, b); }
  B eq(F a, F b) { return b_.CreateFCmpOEQ(a, b); }
  F select(B c, F a, F b) { return b_.CreateSelect(c, a, b); }

  I iadd(I a, I b) { return b_.CreateAdd(a, b); }
  I isub(I a, I b) { return b_.CreateSub(a, b); }
  I iand(I a, I b) { return b_.CreateAnd(a, b); }
  I ior(I a, I b) { return b_.CreateOr(a, b); }
  I ixor(I a, I b) { return b_.CreateXor(a, b); }
  I shl(I a, int count) { return b_.CreateShl(a, static_cast<std::uint64_t>(count)); }
  B ieq(I a, I b) { return b_.CreateICmpEQ(a, b); }

 protected:
  llvm::Type* widen(llvm::Type* scalar) const {
    return width_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(width_));
  }

  llvm::IRBuilder<>& b_;
  int width_;
};

// The target of loops/math.h that emits code.
class LlvmTarget : public LlvmOperations {
 public:
  using D = llvm::Value*;
  using LlvmOperations::LlvmOperations;

  F f32(float v) { return llvm::ConstantFP::get(single(), v); }
  I i32(std::int32_t v) { return llvm::ConstantInt::getSigned(word(), v); }
  D f64(double v) { return llvm::ConstantFP::get(real(), v); }

  I bits(F a) { return b_.CreateBitCast(a, word()); }
  F from_bits(I a) { return b_.CreateBitCast(a, single()); }
  I ashr(I a, int count) { return b_.CreateAShr(a, static_cast<std::uint64_t>(count)); }
  I iselect(B c, I a, I b) { return b_.CreateSelect(c, a, b); }
  I to_int(F a) { return b_.CreateFPToSI(a, word()); }
  F to_float(I a) { return b_.CreateSIToFP(a, single()); }

  D to_f64(F a) { return b_.CreateFPExt(a, real()); }
  F to_f32(D a) { return b_.CreateFPTrunc(a, single()); }
  D dadd(D a, D b) { return add(a, b); }
  D dsub(D a, D b) { return sub(a, b); }
  D dmul(D a, D b) { return mul(a, b); }
  D ddiv(D a, D b) { return div(a, b); }
  D dsqrt(D a) { return sqrt(a); }
  D dfma(D a, D b, D c) { return fma(a, b, c); }
  B dlt(D a, D b) { return lt(a, b); }
  D dselect(B c, D a, D b) { return select(c, a, b); }
  D dshl(D a, int count) {
    llvm::Value* const bits = b_.CreateBitCast(a, widen(b_.getInt64Ty()));
    return b_.CreateBitCast(shl(bits, count), real());
  }
  D pow2_f64(I k) {
    llvm::Type* const wide = widen(b_.getInt64Ty());
    llvm::Value* const exponent =
        b_.CreateAdd(b_.CreateSExt(k, wide), llvm::ConstantInt::get(wide, 1023));
    return b_.CreateBitCast(shl(exponent, 52), real());
  }

 private:
  llvm::Type* single() const { return widen(b_.getFloatTy()); }
  llvm::Type* real() const { return widen(b_.getDoubleTy()); }
  llvm::Type* word() const { return widen(b_.getInt32Ty()); }
};

// The target of loops/math64.h that emits code.
class LlvmTargetF64 : public LlvmOperations {
 public:
  using LlvmOperations::LlvmOperations;

  F f64(double v) { return llvm::ConstantFP::get(real(), v); }
  I i64(std::int64_t v) { return llvm::ConstantInt::getSigned(word(), v); }

  I bits(F a) { return b_.CreateBitCast(a, word()); }
  F from_bits(I a) { return b_.CreateBitCast(a, real()); }
  I lshr(I a, int count) { return b_.CreateLShr(a, static_cast<std::uint64_t>(count)); }
  B is_negative(I a) { return b_.CreateICmpSLT(a, i64(0)); }

 private:
  llvm::Type* real() const { return widen(b_.getDoubleTy()); }
  llvm::Type* word() const { return widen(b_.getInt64Ty()); }
};

}  // namespace relay::jit
