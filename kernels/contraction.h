#pragma once

#include <memory>

#include "loops/normal_form.h"

namespace relay::kernels {

// A contraction as matrix products of tiles. Null where no pair of axes of each tensor makes a
// matrix as BLAS wants it (one of its strides 1), or the matrices are tiny.
std::shared_ptr<const loops::LibraryKernel> make_contraction(const loops::Contraction& form);

}  // namespace relay::kernels
