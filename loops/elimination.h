#pragma once

#include "loops/free_vars.h"

namespace relay::loops {

// A sum of products over several variables, for each point of `scope`, as sums of sums: a variable
// that only some of the factors depend on is summed over first, with these, where that leaves at
// most half of the work: sum j, k { a[i, j] * b[j, k] * c[k, l] } is
// sum k { (sum j { a[i, j] * b[j, k] }) * c[k, l] }. What depends on none of the variables stands
// outside. Variables with the least work go first, as where variables are eliminated from sums of
// products in general (Aji and McEliece, "The generalized distributive law", 2000); that is not
// always the best order. `sum` where nothing changes. Floats are rounded in another order; of
// integers the result is the same. Linear in the factors' nodes.
NodeId with_sums_inside(Stages& stages, NodeFactory& make, FreeVars& free, NodeId sum,
                        const Vars& scope);

}  // namespace relay::loops
