#pragma once

#include "loops/normal_form.h"
#include "loops/stages.h"

namespace relay::loops {

// Sums that are no normal form, but made of such that the library takes, as
//   sum k { a[i, k] * b[k, j] - c[i, k] * d[k, j] }, and what forward mode makes of a product;
//   sum k { 2.0 * a[i, k] * exp(b[k, j]) / s[i] }
// get a tensor for each product. Of one with more factors than two reads, those that depend on the
// same variables are multiplied first, as a tensor, where each of its elements is read often, and
// what does not depend on the variables of the sum is multiplied with its result (loops/factors.h).
// A sum among the factors joins the sum around it, and reads that do not lie as the library takes
// them are copied, where they are read often. Conditions around a product go with it. Linear in the
// nodes, but for what it makes.
void split_sums(Stages& stages, KernelLibrary& library);

}  // namespace relay::loops
