#pragma once

#include <cstdint>

#include "lang/dtype.h"
#include "lang/primitive.h"

// The loops that the lanes run: one function per primitive and dtype, compiled for several
// generations of the CPU; the best one for this machine is picked when the program starts. All give
// the same bits.
namespace relay::interp {

// out[i] = op(a[i], b[i], c[i]) for i < n. An operand that was declared uniform has one element for
// all lanes. `out` may be an operand's own array when their elements are equally big, else it
// overlaps none. False: some lane divided an integer by zero (the others may or may not be
// written).
using LaneFunction = bool (*)(void* out, const void* a, const void* b, const void* c,
                              std::int64_t n);

// Which operands are uniform, as bits (1: a, 2: b, 4: c); not all of them unless n is 1, for which
// 0 does.
LaneFunction lane_primitive(lang::Prim prim, lang::DType operand, unsigned uniform);
LaneFunction lane_select(std::size_t element_size, unsigned uniform);
LaneFunction lane_cast(lang::DType from, lang::DType to);

// --- Moving elements; `size` is that of one element: 1, 2, 4 or 8 bytes. Strides and offsets are
// in elements ---

// out[i * out_stride] = in[i * in_stride]
using CopyFunction = void (*)(void* out, std::int64_t out_stride, const void* in,
                              std::int64_t in_stride, std::int64_t n);
CopyFunction lane_copy(std::size_t size);
// gather: out[i] = in[offsets[i]]; scatter: out[offsets[i]] = in[i * in_stride], in_stride 0 or 1.
using GatherFunction = void (*)(void* out, const void* in, const std::int64_t* offsets,
                                std::int64_t n);
GatherFunction lane_gather(std::size_t size);
// out[i] = mask[i] ? in[offsets[i]] : 0; null for `offsets`: i * stride.
using MaskedFunction = void (*)(void* out, const void* in, const std::int64_t* offsets,
                                std::int64_t stride, const std::uint8_t* mask, std::int64_t n);
MaskedFunction lane_masked(std::size_t size);
using ScatterFunction = void (*)(void* out, const std::int64_t* offsets, const void* in,
                                 std::int64_t in_stride, std::int64_t n);
ScatterFunction lane_scatter(std::size_t size);

// --- Index arithmetic ---

void lane_iota(std::int64_t* out, std::int64_t first, std::int64_t step, std::int64_t n);
// offsets[i] += index[i] * stride
void lane_add_scaled(std::int64_t* offsets, const std::int64_t* index, std::int64_t stride,
                     std::int64_t n);
bool lanes_in_range(const std::int64_t* index, std::int64_t extent, std::int64_t n);
// out[i] = 0 <= index[i] < extent
void lane_in_range(std::uint8_t* out, const std::int64_t* index, std::int64_t extent,
                   std::int64_t n);
// masks[i] = masks[i] && more[i]
void lane_and(std::uint8_t* masks, const std::uint8_t* more, std::int64_t n);

// --- Folding ---

// Folds values[i], element number t + i of a reduction, into partials[(t + i) % kReductionLanes].
// Where the reduction has blocks, the result of each one that becomes complete is put among those
// that wait, by level (loops/reduction_tree.h), and the partial results start anew.
using FoldFunction = void (*)(void* partials, void* waiting, const void* values, std::int64_t t,
                              std::int64_t n);
FoldFunction lane_fold(lang::ReduceOp op, lang::DType dtype);
// The same with values[i] = a[i] * b[i], for sums. Null for what has no such loop.
using FoldProductFunction = void (*)(void* partials, void* waiting, const void* a, const void* b,
                                     std::int64_t t, std::int64_t n);
FoldProductFunction lane_fold_product(lang::DType dtype);
// partials[i] += a[i] * b[i], rounded twice: the heart of a contraction. Null for what has no such
// loop.
LaneFunction lane_multiply_add(lang::DType dtype, unsigned uniform);
// Dot, of float32 and float64: a[i * stride_a] * b[i * stride_b], added with one rounding. Strides
// are 0 or 1.
struct DotFunctions {
  // As FoldFunction.
  void (*across)(void* partials, void* waiting, const void* a, std::int64_t stride_a, const void* b,
                 std::int64_t stride_b, std::int64_t t, std::int64_t n) = nullptr;
  // To partials[i].
  void (*each_lane)(void* partials, const void* a, std::int64_t stride_a, const void* b,
                    std::int64_t stride_b, std::int64_t n) = nullptr;
};
DotFunctions lane_dot(lang::DType dtype);
// out[offsets[i]] = op(out[offsets[i]], values[i * stride]) in order; stride 0 or 1. What is set
// is scattered.
using CombineFunction = void (*)(void* out, const std::int64_t* offsets, const void* values,
                                 std::int64_t stride, std::int64_t n);
CombineFunction lane_combine(lang::ReduceOp op, lang::DType dtype);

// ArgMax and ArgMin: partial results are values and element numbers.
struct ArgFunctions {
  // best[i], best_at[i] against element number `t` with values[i], lane by lane.
  void (*each_lane)(void* best, std::int64_t* best_at, const void* values, std::int64_t t,
                    std::int64_t n);
  // As FoldFunction.
  void (*across)(void* best, std::int64_t* best_at, const void* values, std::int64_t t,
                 std::int64_t n);
  // best[i], best_at[i] against other[i], other_at[i].
  void (*combine)(void* best, std::int64_t* best_at, const void* other,
                  const std::int64_t* other_at, std::int64_t n);
};
ArgFunctions lane_arg(lang::ReduceOp op, lang::DType dtype);

}  // namespace relay::interp
