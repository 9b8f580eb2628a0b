#pragma once

#include <bit>
#include <cstdint>

#include "lang/dtype.h"
#include "lang/primitive.h"
#include "loops/loop_ir.h"

// How the results of blocks are combined (loops/loop_ir.h says how a block is). Of n > 1 blocks the
// first p, where p is the largest power of two below n, are one operand, and the others the other.
// So an element takes part in at most kReductionBlock / kReductionLanes + 4 + log2(blocks)
// roundings, as few as in NumPy's pairwise sum.
//
// In order, that is counting in binary: the result of a block is folded into those that wait at
// the levels 0, 1, ... as far as these are taken, as `op(waiting, result)`, and then waits at the
// next one. At the end, what is left of the last block (the identity where there is nothing: it
// changes no bit) is folded into the waiting ones from the lowest level up.
namespace relay::loops {

inline constexpr std::int64_t kReductionBlock = 256;
static_assert(kReductionBlock % kReductionLanes == 0);

// Does the order matter so much that there are blocks? The other reductions are exact.
constexpr bool has_blocks(lang::ReduceOp op, lang::DType dtype) {
  const bool is_float = dtype >= lang::DType::Float16;
  return is_float &&
         (op == lang::ReduceOp::Sum || op == lang::ReduceOp::Prod || op == lang::ReduceOp::Dot);
}
// How many levels there are for `count` elements.
inline int waiting_levels(std::int64_t count) {
  return std::bit_width(static_cast<std::uint64_t>(count / kReductionBlock));
}
// Where the result of block number `block` waits; the levels below are taken then.
inline int waiting_level(std::int64_t block) {
  return std::countr_one(static_cast<std::uint64_t>(block));
}

// What the kReductionLanes partial results come to, combined in pairs as fold(a, b).
template <class T, class Fold>
T combined(T* partials, Fold fold) {
  for (int width = kReductionLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) partials[i] = fold(partials[i], partials[i + width]);
  }
  return partials[0];
}
// Puts the result of block number `block` among those that wait, by level.
template <class T, class Fold>
void wait(T* waiting, std::int64_t block, T result, Fold fold) {
  const int level = waiting_level(block);
  for (int i = 0; i < level; ++i) result = fold(waiting[i], result);
  waiting[level] = result;
}

// At the end: calls fold(level) for the levels where results of `blocks` whole blocks wait, from
// the lowest up.
template <class Fold>
void for_each_waiting(std::int64_t blocks, Fold fold) {
  for (auto rest = static_cast<std::uint64_t>(blocks); rest != 0; rest &= rest - 1)
    fold(std::countr_zero(rest));
}

}  // namespace relay::loops
