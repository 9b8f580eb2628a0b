#include "jit/scalar_codegen.h"

#include <array>
#include <limits>

namespace relay::jit {

using lang::DType;
using lang::Prim;
using llvm::Value;

llvm::Type* ScalarCodegen::widen(llvm::Type* scalar) const {
  return width_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(width_));
}

llvm::Type* ScalarCodegen::type(DType dtype) const {
  switch (dtype) {
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
      return widen(b_.getFloatTy());
    case DType::Float64:
      return widen(b_.getDoubleTy());
    default:
      return widen(b_.getIntNTy(static_cast<unsigned>(lang::bits_of(dtype))));
  }
}

Value* ScalarCodegen::integer(DType dtype, std::int64_t value) {
  return llvm::ConstantInt::get(type(dtype), static_cast<std::uint64_t>(value), true);
}

Value* ScalarCodegen::number(llvm::Type* type, double value) {
  return llvm::ConstantFP::get(type, value);
}

Value* ScalarCodegen::constant(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::Bool:
      return llvm::ConstantInt::get(type(dtype), (bits & 0xff) != 0 ? 1 : 0);
    case DType::Float16: {
      const llvm::APFloat half(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits & 0xffff));
      llvm::APFloat single = half;
      bool loses = false;
      single.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
      return llvm::ConstantFP::get(type(dtype), single);
    }
    case DType::BFloat16:
      return llvm::ConstantFP::get(
          type(dtype),
          llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, (bits & 0xffff) << 16)));
    case DType::Float32:
      return llvm::ConstantFP::get(type(dtype), llvm::APFloat(llvm::APFloat::IEEEsingle(),
                                                              llvm::APInt(32, bits & 0xffffffff)));
    case DType::Float64:
      return llvm::ConstantFP::get(
          type(dtype), llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
    default: {
      const unsigned width = static_cast<unsigned>(lang::bits_of(dtype));
      return llvm::ConstantInt::get(type(dtype), llvm::APInt(64, bits).trunc(width));
    }
  }
}

Value* ScalarCodegen::from_memory(Value* value, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return b_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
    case DType::Float16:
      return b_.CreateFPExt(b_.CreateBitCast(value, widen(b_.getHalfTy())), type(dtype));
    case DType::BFloat16: {
      Value* const bits = b_.CreateShl(b_.CreateZExt(value, widen(b_.getInt32Ty())), 16);
      return b_.CreateBitCast(bits, type(dtype));
    }
    default:
      return value;
  }
}

// Rounded to bfloat16, in the upper half of 32 bits. A NaN is made quiet and not rounded, which
// could carry it into infinity.
Value* ScalarCodegen::bfloat_bits(Value* value) {
  llvm::Type* const word = widen(b_.getInt32Ty());
  const auto literal = [&](std::uint32_t v) { return llvm::ConstantInt::get(word, v); };
  Value* const bits = b_.CreateBitCast(value, word);
  Value* const odd = b_.CreateAnd(b_.CreateLShr(bits, 16), literal(1));
  Value* const rounded = b_.CreateAdd(bits, b_.CreateAdd(odd, literal(0x7fff)));
  Value* const quiet = b_.CreateOr(bits, literal(0x00400000));
  return b_.CreateAnd(b_.CreateSelect(is_nan(value), quiet, rounded), literal(0xffff0000));
}

Value* ScalarCodegen::round_to(Value* value, DType dtype) {
  if (dtype == DType::Float16) {
    return b_.CreateFPExt(b_.CreateFPTrunc(value, widen(b_.getHalfTy())), type(dtype));
  }
  if (dtype == DType::BFloat16) return b_.CreateBitCast(bfloat_bits(value), type(dtype));
  return value;
}

Value* ScalarCodegen::to_memory(Value* value, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return b_.CreateZExt(value, widen(b_.getInt8Ty()));
    case DType::Float16:
      return b_.CreateBitCast(b_.CreateFPTrunc(value, widen(b_.getHalfTy())),
                              widen(b_.getInt16Ty()));
    case DType::BFloat16: {
      Value* const bits = b_.CreateBitCast(value, widen(b_.getInt32Ty()));
      return b_.CreateTrunc(b_.CreateLShr(bits, 16), widen(b_.getInt16Ty()));
    }
    default:
      return value;
  }
}

Value* ScalarCodegen::compare(Prim prim, DType dtype, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  const bool is_float = lang::is_float(dtype);
  const bool is_signed = lang::is_signed_int(dtype);
  const auto pick = [&](P of_float, P of_signed, P of_unsigned) {
    return b_.CreateCmp(is_float ? of_float : is_signed ? of_signed : of_unsigned, a, b);
  };
  switch (prim) {
    case Prim::Eq:
      return pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
    case Prim::Ne:
      return pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
    case Prim::Lt:
      return pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
    case Prim::Le:
      return pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
    case Prim::Gt:
      return pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
    default:
      return pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
  }
}

Value* ScalarCodegen::min_max(Prim prim, DType dtype, Value* a, Value* b) {
  Value* const first = compare(prim == Prim::Min ? Prim::Lt : Prim::Gt, dtype, a, b);
  Value* const result = b_.CreateSelect(first, a, b);
  // A NaN in b is the result already.
  return lang::is_float(dtype) ? b_.CreateSelect(is_nan(a), a, result) : result;
}

Value* ScalarCodegen::binary(Prim prim, DType dtype, Value* a, Value* b) {
  const std::array<Value*, 2> args = {a, b};
  Value* by_zero = nullptr;
  return primitive(prim, dtype, dtype, args, by_zero);
}

Value* ScalarCodegen::intrinsic(llvm::Intrinsic::ID id, Value* value) {
  return b_.CreateUnaryIntrinsic(id, value);
}

// A division of integers by what is never 0. Of vectors it is one for each lane, as processors do
// it anyway: LLVM takes a division by a vector with a 0 for undefined in all lanes, even where the
// vector is one side of a select that takes another element there.
Value* ScalarCodegen::quotient_or_remainder(llvm::Instruction::BinaryOps op, Value* a,
                                            Value* divisor) {
  if (width_ == 1 || llvm::isa<llvm::Constant>(divisor)) return b_.CreateBinOp(op, a, divisor);
  Value* result = llvm::PoisonValue::get(a->getType());
  for (std::uint64_t lane = 0; lane < static_cast<std::uint64_t>(width_); ++lane) {
    Value* const each = b_.CreateBinOp(op, b_.CreateExtractElement(a, lane),
                                       b_.CreateExtractElement(divisor, lane));
    result = b_.CreateInsertElement(result, each, lane);
  }
  return result;
}

// Integer division that neither traps nor is undefined: a divisor of 0 is reported in `by_zero`,
// and the smallest number divided by -1 wraps.
Value* ScalarCodegen::divide(Prim prim, DType dtype, Value* a, Value* b, Value*& by_zero) {
  Value* const zero = integer(dtype, 0);
  Value* const one = integer(dtype, 1);
  by_zero = b_.CreateICmpEQ(b, zero);
  if (lang::is_unsigned_int(dtype)) {
    Value* const divisor = b_.CreateSelect(by_zero, one, b);
    const bool is_quotient = prim == Prim::Div || prim == Prim::FloorDiv;
    return quotient_or_remainder(is_quotient ? llvm::Instruction::UDiv : llvm::Instruction::URem, a,
                                 divisor);
  }
  // Dividing by -1 is negation with remainder 0; the division itself then is by 1.
  Value* const by_minus_one = b_.CreateICmpEQ(b, integer(dtype, -1));
  Value* const divisor = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), one, b);
  Value* const remainder = quotient_or_remainder(llvm::Instruction::SRem, a, divisor);
  if (prim == Prim::Mod) return remainder;
  // A remainder other than 0 whose sign is not the divisor's: the floor is one below the quotient.
  Value* const is_off = b_.CreateAnd(b_.CreateICmpNE(remainder, zero),
                                     b_.CreateICmpSLT(b_.CreateXor(remainder, b), zero));
  if (prim == Prim::FloorMod) {
    return b_.CreateAdd(remainder, b_.CreateSelect(is_off, b, zero));
  }
  Value* const quotient =
      b_.CreateSelect(by_minus_one, b_.CreateSub(zero, a),
                      quotient_or_remainder(llvm::Instruction::SDiv, a, divisor));
  if (prim == Prim::Div) return quotient;
  return b_.CreateSub(quotient, b_.CreateSelect(is_off, one, zero));
}

Value* ScalarCodegen::int_arithmetic(Prim prim, DType dtype, std::span<Value* const> args,
                                     Value*& by_zero) {
  const bool is_signed = lang::is_signed_int(dtype);
  switch (prim) {
    case Prim::Add:
      return b_.CreateAdd(args[0], args[1]);
    case Prim::Sub:
      return b_.CreateSub(args[0], args[1]);
    case Prim::Mul:
      return b_.CreateMul(args[0], args[1]);
    case Prim::Neg:
      return b_.CreateNeg(args[0]);
    case Prim::Abs:
      return is_signed ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0], b_.getFalse())
                       : args[0];
    case Prim::Sign: {
      Value* const zero = integer(dtype, 0);
      Value* const above = b_.CreateZExt(b_.CreateICmpNE(args[0], zero), type(dtype));
      if (!is_signed) return above;
      return b_.CreateOr(above, b_.CreateAShr(args[0], integer(dtype, lang::bits_of(dtype) - 1)));
    }
    case Prim::Pow: {
      llvm::Type* const word = widen(b_.getInt64Ty());
      const auto extend = [&](Value* v) {
        return is_signed ? b_.CreateSExt(v, word) : b_.CreateZExt(v, word);
      };
      const std::array<Value*, 2> words = {extend(args[0]), extend(args[1])};
      Value* const power =
          emit_call(b_, width_, is_signed ? "relay_pow_i64" : "relay_pow_u64", words);
      return b_.CreateTrunc(power, type(dtype));
    }
    case Prim::Div:
    case Prim::FloorDiv:
    case Prim::Mod:
    case Prim::FloorMod:
      return divide(prim, dtype, args[0], args[1], by_zero);
    default:  // Floor, Ceil, Trunc, Round
      return args[0];
  }
}

// a - floor(a / b) * b without its rounding errors: the exact remainder of truncation, moved to the
// side of the divisor.
Value* ScalarCodegen::floor_mod(Value* a, Value* b) {
  const bool is_double = a->getType()->getScalarType()->isDoubleTy();
  const std::array<Value*, 2> args = {a, b};
  Value* const remainder =
      emit_call(b_, width_, is_double ? "relay_fmod_f64" : "relay_fmod_f32", args);
  Value* const zero = number(a->getType(), 0.0);
  Value* const is_off =
      b_.CreateAnd(b_.CreateFCmpUNE(remainder, zero),
                   b_.CreateXor(b_.CreateFCmpOLT(remainder, zero), b_.CreateFCmpOLT(b, zero)));
  return b_.CreateSelect(is_off, b_.CreateFAdd(remainder, b), remainder);
}

Value* ScalarCodegen::float_arithmetic(Prim prim, DType dtype, std::span<Value* const> args) {
  const bool is_double = dtype == DType::Float64;
  switch (prim) {
    case Prim::Add:
      return b_.CreateFAdd(args[0], args[1]);
    case Prim::Sub:
      return b_.CreateFSub(args[0], args[1]);
    case Prim::Mul:
      return b_.CreateFMul(args[0], args[1]);
    case Prim::Div:
      return b_.CreateFDiv(args[0], args[1]);
    case Prim::FloorDiv:
      return intrinsic(llvm::Intrinsic::floor, b_.CreateFDiv(args[0], args[1]));
    case Prim::Mod:
      return emit_call(b_, width_, is_double ? "relay_fmod_f64" : "relay_fmod_f32", args);
    case Prim::FloorMod:
      return floor_mod(args[0], args[1]);
    case Prim::Neg:
      return b_.CreateFNeg(args[0]);
    case Prim::Abs:
      return intrinsic(llvm::Intrinsic::fabs, args[0]);
    case Prim::Sign: {
      llvm::Type* const type = args[0]->getType();
      Value* const zero = number(type, 0.0);
      Value* const below =
          b_.CreateSelect(b_.CreateFCmpOLT(args[0], zero), number(type, -1.0), args[0]);
      return b_.CreateSelect(b_.CreateFCmpOGT(args[0], zero), number(type, 1.0), below);
    }
    case Prim::Floor:
      return intrinsic(llvm::Intrinsic::floor, args[0]);
    case Prim::Ceil:
      return intrinsic(llvm::Intrinsic::ceil, args[0]);
    case Prim::Trunc:
      return intrinsic(llvm::Intrinsic::trunc, args[0]);
    case Prim::Round:
      return intrinsic(llvm::Intrinsic::roundeven, args[0]);
    case Prim::Sqrt:
      return intrinsic(llvm::Intrinsic::sqrt, args[0]);
    default:
      return emit_math(b_, width_, prim, is_double, args);
  }
}

Value* ScalarCodegen::arithmetic(Prim prim, DType dtype, std::span<Value* const> args,
                                 Value*& by_zero) {
  if (!lang::is_float(dtype)) return int_arithmetic(prim, dtype, args, by_zero);
  return round_to(float_arithmetic(prim, dtype, args), dtype);
}

Value* ScalarCodegen::bit_operation(Prim prim, DType dtype, std::span<Value* const> args) {
  const auto count = [&] {
    return b_.CreateAnd(args[1], integer(dtype, lang::bits_of(dtype) - 1));
  };
  switch (prim) {
    case Prim::And:
      return b_.CreateAnd(args[0], args[1]);
    case Prim::Or:
      return b_.CreateOr(args[0], args[1]);
    case Prim::Xor:
      return b_.CreateXor(args[0], args[1]);
    case Prim::Not:
      return b_.CreateNot(args[0]);
    case Prim::Shl:
      return b_.CreateShl(args[0], count());
    default:
      return lang::is_signed_int(dtype) ? b_.CreateAShr(args[0], count())
                                        : b_.CreateLShr(args[0], count());
  }
}

Value* ScalarCodegen::primitive(Prim prim, DType operand, DType result,
                                std::span<Value* const> args, Value*& by_zero) {
  switch (prim) {
    case Prim::Eq:
    case Prim::Ne:
    case Prim::Lt:
    case Prim::Le:
    case Prim::Gt:
    case Prim::Ge:
      return compare(prim, operand, args[0], args[1]);
    case Prim::Min:
    case Prim::Max:
      return min_max(prim, operand, args[0], args[1]);
    case Prim::And:
    case Prim::Or:
    case Prim::Xor:
    case Prim::Not:
    case Prim::Shl:
    case Prim::Shr:
      return bit_operation(prim, operand, args);
    case Prim::IsNan:
      return lang::is_float(operand) ? is_nan(args[0]) : constant(DType::Bool, 0);
    case Prim::IsFinite:
    case Prim::IsInf: {
      if (!lang::is_float(operand)) return constant(DType::Bool, prim == Prim::IsFinite ? 1 : 0);
      Value* const size = intrinsic(llvm::Intrinsic::fabs, args[0]);
      Value* const infinity = number(size->getType(), std::numeric_limits<double>::infinity());
      return prim == Prim::IsInf ? b_.CreateFCmpOEQ(size, infinity)
                                 : b_.CreateFCmpOLT(size, infinity);
    }
    case Prim::Select:
      return b_.CreateSelect(args[0], args[1], args[2]);
    case Prim::Cast:
      return cast(args[0], operand, result);
    default:
      return arithmetic(prim, operand, args, by_zero);
  }
}

Value* ScalarCodegen::cast(Value* value, DType from, DType to) {
  if (from == to) return value;
  llvm::Type* const target = type(to);
  if (to == DType::Bool) {
    llvm::Constant* const zero = llvm::Constant::getNullValue(value->getType());
    return lang::is_float(from) ? b_.CreateFCmpUNE(value, zero) : b_.CreateICmpNE(value, zero);
  }
  if (lang::is_float(from)) {
    if (lang::is_float(to)) {
      return round_to(b_.CreateFPCast(value, target), to);
    }
    const auto id =
        lang::is_signed_int(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {target, value->getType()}, {value});
  }
  const bool is_signed = lang::is_signed_int(from);
  if (!lang::is_float(to)) return b_.CreateIntCast(value, target, is_signed);
  Value* const converted =
      is_signed ? b_.CreateSIToFP(value, target) : b_.CreateUIToFP(value, target);
  return round_to(converted, to);
}

}  // namespace relay::jit
