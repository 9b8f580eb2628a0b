#pragma once

#include "formats/formats.h"

// NumPy's `.npz`: a zip archive of `.npy` files. All throw Failure.
namespace relay::formats {

Header read_npz_header(const Location& location, const Progress& progress);
// Compares the member's checksum.
lang::TensorRef read_npz(const Location& location, const Progress& progress);
// Stored without compression, as by `numpy.savez`.
void write_npz(const Location& location, const std::vector<NamedTensor>& tensors,
               const Progress& progress);

}  // namespace relay::formats
