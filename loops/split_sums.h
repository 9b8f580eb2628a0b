#pragma once

#include "loops/normal_form.h"
#include "loops/stages.h"

namespace relay::loops {

// Sums whose elements are several products, each of which the library takes: they become a tensor
// for each product and the sum of these, as for `sum k { a[i, k] * b[k, j] - c[i, k] * d[k, j] }`,
// and for what forward mode makes of a sum of products. Conditions around the elements go with each
// product. Linear in the nodes, but for what it makes.
void split_sums(Stages& stages, KernelLibrary& library);

}  // namespace relay::loops
