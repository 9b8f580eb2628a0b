#pragma once

#include <memory>

#include "kernels/tiles.h"
#include "loops/normal_form.h"

namespace relay::kernels {

// A contraction as matrix products of tiles. Null where no axis of the result lies side by side, or
// the matrices are tiny.
std::shared_ptr<const loops::LibraryKernel> make_contraction(const loops::Contraction& form,
                                                             Level level);

}  // namespace relay::kernels
