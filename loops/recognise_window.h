#pragma once

#include <optional>
#include <span>

#include "loops/operand_view.h"
#include "loops/recognise.h"

namespace relay::loops {

// A loop around a sum of products: an axis of the result or one that is summed over, or a part of
// one, index variable `var` being the sum of its parts times their factors.
struct WindowLoop {
  std::int64_t extent;
  bool is_output;
  std::int64_t stride;  // in the result, or, of a spread, in what is spread
  IndexVarId var;
  std::int64_t factor;
};

// The sum that the loops make; axes of `space` are numbers of loops.
struct WindowNest {
  DType dtype;
  std::span<const WindowLoop> loops;
  const IndexSpace& space;
};

// How far an affine address moves with loop `loop`.
std::int64_t stride_of(const IndexExpr& address, std::size_t loop, const IndexSpace& space);

// The nest as a window, either operand being the one that the window slides over.
std::optional<Recognised> recognise_window(const WindowNest& nest,
                                           std::span<const OperandView> left,
                                           std::span<const OperandView> right);

// The other way round: a sum into every element of `target`, which the window slides over, of
// products of `out`, whose strides are those of the nest's loops, and `kernel`.
std::optional<Recognised> recognise_spread(const WindowNest& nest, const OperandView& target,
                                           const OperandView& out, const OperandView& kernel);

}  // namespace relay::loops
