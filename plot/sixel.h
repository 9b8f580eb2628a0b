#pragma once

#include <string>

#include "lang/tensor.h"

namespace relay::plot {

// An image, uint8 (height, width, 3), as the sequence by which a terminal with sixel graphics draws
// it where the cursor is. Of more than 256 colours, the nearest of 216.
std::string sixel_of(const lang::Tensor& image);

}  // namespace relay::plot
