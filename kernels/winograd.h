#pragma once

#include <memory>

#include "kernels/tiles.h"
#include "loops/normal_form.h"

namespace relay::kernels {

// A window of 3 by 3 taps that moves by one place, or the adjoint of its input, by Winograd's F(2 x
// 2, 3 x 3): products of transformed tiles take 16 multiplications where the sum takes 36. For
// equally distributed numbers its error is 1.2 times that of the sum
// (tests/unit/kernels/winograd_test.cpp prints both). Null for other windows, and where
// transforming takes longer than it saves.
std::shared_ptr<const loops::LibraryKernel> make_winograd(const loops::Window& form, Level level);

}  // namespace relay::kernels
