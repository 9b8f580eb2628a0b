#pragma once

#include <string>
#include <string_view>

#include "formats/formats.h"

// PNG images as uint8 tensors (height, width, channels), by libpng: gray, gray with alpha, RGB or
// RGBA; a palette becomes RGB. All throw Failure.
namespace relay::formats {

Header read_png_header(const Location& location, const Progress& progress);
lang::TensorRef read_png(const Location& location, const Progress& progress);
// Of shape (height, width) or (height, width, 1 to 4).
void write_png(const Location& location, const lang::Tensor& tensor);
// The same as the bytes of a file.
std::string png_bytes(const lang::Tensor& tensor);
// The image in the bytes of a file, as RGB; what is transparent shows white.
lang::TensorRef rgb_of_png(std::string_view bytes);

}  // namespace relay::formats
