#pragma once

#include "formats/formats.h"

// PNG images as uint8 tensors (height, width, channels), by libpng: gray, gray with alpha, RGB or
// RGBA; a palette becomes RGB. All throw Failure.
namespace relay::formats {

Header read_png_header(const Location& location, const Progress& progress);
lang::TensorRef read_png(const Location& location, const Progress& progress);
// Of shape (height, width) or (height, width, 1 to 4).
void write_png(const Location& location, const lang::Tensor& tensor);

}  // namespace relay::formats
