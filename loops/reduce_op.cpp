#include "loops/reduce_op.h"

#include "lang/diagnostic.h"

namespace relay::loops {

using lang::DType;
using lang::Prim;
using lang::ReduceOp;

namespace {

// The smallest or the greatest value of a dtype.
std::uint64_t extreme_bits(DType dtype, bool is_smallest) {
  const std::uint64_t sign = is_smallest ? 1 : 0;
  switch (dtype) {
    case DType::Float16:
      return 0x7c00 | sign << 15;
    case DType::BFloat16:
      return 0x7f80 | sign << 15;
    case DType::Float32:
      return 0x7f800000 | sign << 31;
    case DType::Float64:
      return 0x7ff0000000000000 | sign << 63;
    default:
      break;
  }
  const int bits = lang::bits_of(dtype);
  if (!lang::is_signed_int(dtype)) return is_smallest ? 0 : ~std::uint64_t{0} >> (64 - bits);
  const std::uint64_t smallest = std::uint64_t{1} << (bits - 1);
  return is_smallest ? smallest : smallest - 1;
}

std::uint64_t one_bits(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 0x3c00;
    case DType::BFloat16:
      return 0x3f80;
    case DType::Float32:
      return 0x3f800000;
    case DType::Float64:
      return 0x3ff0000000000000;
    default:
      return 1;
  }
}

}  // namespace

Prim prim_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Dot:
      return Prim::Add;
    case ReduceOp::Prod:
      return Prim::Mul;
    case ReduceOp::Max:
    case ReduceOp::ArgMax:
      return Prim::Max;
    case ReduceOp::Min:
    case ReduceOp::ArgMin:
      return Prim::Min;
    case ReduceOp::All:
      return Prim::And;
    case ReduceOp::Any:
      return Prim::Or;
    case ReduceOp::Set:
      break;
  }
  RELAY_CHECK(false, "what is set is no fold");
  return Prim::Add;
}

std::uint64_t identity_bits(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Dot:
    case ReduceOp::Any:
      return 0;
    case ReduceOp::Prod:
    case ReduceOp::All:
      return one_bits(dtype);
    case ReduceOp::Max:
    case ReduceOp::ArgMax:
      return extreme_bits(dtype, true);
    case ReduceOp::Min:
    case ReduceOp::ArgMin:
      return extreme_bits(dtype, false);
    case ReduceOp::Set:
      break;
  }
  RELAY_CHECK(false, "what is set is no fold");
  return 0;
}

}  // namespace relay::loops
