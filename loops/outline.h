#pragma once

#include "loops/free_vars.h"
#include "loops/shared_tensors.h"

namespace relay::loops {

// Of a tensor that is made element by element, and is none of `stages` yet: what contains a
// reduction becomes a tensor of its own, over those variables that it depends on, which is read,
// wherever
// - that saves more than it costs: it does not depend on all variables of the tensor and of the
//   reductions around it, as the inner sum of `sum k { (sum j { a[i, j] * b[j, k] }) * c[k, l] }`,
//   and would be computed for each value of the others;
// - or it is a large sum of products (loops/terms.h) inside of other arithmetic, which may be a
//   library's; where it is not, it dissolves into its reader again.
// Choices that are the same for all elements of a sum stand outside of it, and sums over several
// variables are taken apart (loops/elimination.h). Costs what the body has in nodes.
void outline(Stages& stages, NodeFactory& make, FreeVars& free, SharedTensors& shared,
             TensorDef& def);

}  // namespace relay::loops
