#pragma once

#include <cstdint>
#include <string_view>

#include "loops/stages.h"

namespace relay::loops {

// What can be fused with an operator, read off the index maps of its definition.
enum class Pattern : std::uint8_t {
  Elementwise,  // element i of the result needs element i of each operand
  Broadcast,    // the same, where axes of an operand are missing or stretched
  Injective,    // each element needs single elements of the operands, wherever they are
  Reduction,    // a fold over whole axes
  Contraction,  // a fold over products of two operands, or over windows; what follows can join it
  Opaque,       // several nests, a scatter, or a primitive of whole tensors
};

std::string_view name_of(Pattern pattern);  // "elementwise"

// Of a definition that has been expanded (loops/expand.h) at some shape. Extents of 1 hide the
// difference between the first two.
Pattern pattern_of(const Stages& stages);

}  // namespace relay::loops
