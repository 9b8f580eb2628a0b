#pragma once

#include <cstdint>
#include <span>

#include "interp/machine.h"
#include "lang/tensor.h"
#include "lang/type.h"

// The tensors that index notation gives at its points, stacked along its extents.
namespace relay::interp {

// Puts what point number `linear` gives in its place. The first point makes the stack, which is
// null before. False after an error: all points have to give one shape.
bool put_point(Machine& machine, lang::TensorRef& stack, std::span<const std::int64_t> extents,
               std::int64_t linear, const lang::TensorRef& item, lang::Span span);

// Of no points: what the type of the whole says of its shape.
lang::TensorRef stack_of_none(const lang::Type& type, std::span<const std::int64_t> extents);

}  // namespace relay::interp
