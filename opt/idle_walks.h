#pragma once

#include <vector>

#include "lang/expr.h"
#include "opt/effect.h"

namespace relay::opt {

// Which bindings of a block begin and end walks (ad/adjoint_cells.h) in which nothing has an
// effect: no reference has an adjoint or a tangent there, and nobody needs them. One flag for each
// binding. The block's function values have been told to `effects`. Linear in the block.
std::vector<bool> idle_walks(const lang::Block& block, Effects& effects);

}  // namespace relay::opt
