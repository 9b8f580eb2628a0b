#pragma once

#include <cstdint>

#include "lang/dtype.h"
#include "lang/primitive.h"

namespace relay::loops {

inline bool is_arg(lang::ReduceOp op) {
  return op == lang::ReduceOp::ArgMax || op == lang::ReduceOp::ArgMin;
}
// The primitive that a reduction folds with; for ArgMax and ArgMin the one their values are
// compared by, for Dot the one that partial results are combined with. Set has none.
lang::Prim prim_of(lang::ReduceOp op);
// The element that leaves others as they are, as bits: what accumulators start as. Set has none.
std::uint64_t identity_bits(lang::ReduceOp op, lang::DType dtype);

}  // namespace relay::loops
