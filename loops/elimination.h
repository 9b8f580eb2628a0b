#pragma once

#include "loops/free_vars.h"

namespace relay::loops {

// A sum of products over several variables, for each point of `scope`, as sums of sums: a variable
// that only some of the factors depend on is summed over first, with these, where that leaves at
// most half of the work. So
//   sum j, k { a[i, j] * b[j, k] * c[k, l] }   is   sum k { (sum j { a[i, j] * b[j, k] }) * c[k, l]
//   },
// and what depends on none of the variables stands outside. Variables with the least work go first,
// as in the elimination of variables from sums of products in general (Aji and McEliece, "The
// generalized distributive law", 2000), which is not the best order always. `sum` where that is
// nothing new. Sums are rounded in another order, and those of integers are the same. Linear in the
// factors' nodes.
NodeId with_sums_inside(Stages& stages, NodeFactory& make, FreeVars& free, NodeId sum,
                        const Vars& scope);

}  // namespace relay::loops
