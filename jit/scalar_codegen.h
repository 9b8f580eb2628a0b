#pragma once

#include <cstdint>
#include <span>

#include "jit/llvm.h"
#include "lang/dtype.h"
#include "lang/primitive.h"

namespace relay::jit {

// Emits the scalar primitives, for one lane or for vectors of `width` lanes.
//
// In registers a bool is i1, float16 and bfloat16 are float holding a value of the narrow type
// (they are rounded after every primitive), everything else is itself. In memory a bool is a byte,
// float16 and bfloat16 are i16.
class ScalarCodegen {
 public:
  ScalarCodegen(llvm::IRBuilder<>& builder, int width) : b_(builder), width_(width) {}

  llvm::Type* type(lang::DType dtype) const;
  llvm::Value* constant(lang::DType dtype, std::uint64_t bits);
  llvm::Value* from_memory(llvm::Value* value, lang::DType dtype);
  llvm::Value* to_memory(llvm::Value* value, lang::DType dtype);

  // `operand` is the dtype of the operands (of the last one for Select). A division of integers
  // sets `by_zero` to the lanes whose divisor is 0; they do not trap, and their result means
  // nothing.
  llvm::Value* primitive(lang::Prim prim, lang::DType operand, lang::DType result,
                         std::span<llvm::Value* const> args, llvm::Value*& by_zero);
  llvm::Value* binary(lang::Prim prim, lang::DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(lang::Prim prim, lang::DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* is_nan(llvm::Value* value) { return b_.CreateFCmpUNO(value, value); }
  llvm::Value* cast(llvm::Value* value, lang::DType from, lang::DType to);
  // float as the nearest value of `dtype`, float16 or bfloat16, ties to even; other dtypes
  // unchanged.
  llvm::Value* round_to(llvm::Value* value, lang::DType dtype);

 private:
  llvm::Type* widen(llvm::Type* scalar) const;
  llvm::Value* integer(lang::DType dtype, std::int64_t value);
  llvm::Value* number(llvm::Type* type, double value);
  llvm::Value* arithmetic(lang::Prim prim, lang::DType dtype, std::span<llvm::Value* const> args,
                          llvm::Value*& by_zero);
  llvm::Value* int_arithmetic(lang::Prim prim, lang::DType dtype,
                              std::span<llvm::Value* const> args, llvm::Value*& by_zero);
  llvm::Value* float_arithmetic(lang::Prim prim, lang::DType dtype,
                                std::span<llvm::Value* const> args);
  llvm::Value* divide(lang::Prim prim, lang::DType dtype, llvm::Value* a, llvm::Value* b,
                      llvm::Value*& by_zero);
  llvm::Value* quotient_or_remainder(llvm::Instruction::BinaryOps op, llvm::Value* a,
                                     llvm::Value* divisor);
  llvm::Value* floor_mod(llvm::Value* a, llvm::Value* b);
  llvm::Value* min_max(lang::Prim prim, lang::DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* bit_operation(lang::Prim prim, lang::DType dtype,
                             std::span<llvm::Value* const> args);
  llvm::Value* bfloat_bits(llvm::Value* value);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::Value* value);

  llvm::IRBuilder<>& b_;
  int width_;
};

// A call of a function of loops/math.def, which is a function of the module. Null when `prim` is
// none of them.
llvm::Value* emit_math(llvm::IRBuilder<>& builder, int width, lang::Prim prim, bool is_double,
                       std::span<llvm::Value* const> args);
// Writes these functions where `function` calls them; in a long one not all of them. Sin, cos and
// tan of large float64 stay calls.
void inline_math(llvm::Function& function);
// A call of runtime function `name` (interp/runtime_functions.h) in every lane. The types are those
// of `args`, and the result's is that of the first.
llvm::Value* emit_call(llvm::IRBuilder<>& builder, int width, const char* name,
                       std::span<llvm::Value* const> args);

}  // namespace relay::jit
