#pragma once

#include "formats/formats.h"

// Comma-separated numbers (RFC 4180; fields may stand in quotes): every line the same number of
// fields, an optional first line of names. Read line by line into elements of the wanted dtype. All
// throw Failure, BadData with the line.
namespace relay::formats {

lang::TensorRef read_csv(const Location& location, lang::DType dtype, const Progress& progress);
// Of rank 1, an element on each line, or 2. Floats are written so that they read back.
void write_csv(const Location& location, const lang::Tensor& tensor, const Progress& progress);

}  // namespace relay::formats
