#pragma once

#include <vector>

#include "formats/formats.h"

// Parameters of MXNet (`.params`: an NDArray list) and of NNVM and TVM (a parameter dictionary).
namespace relay::models::nnvm {

// By name, without MXNet's `arg:` and `aux:`, in the file's order; arrays that were saved without
// content are left out. No more is allocated than the file has bytes. Throws Failure: FileError,
// FileRefused, BadData, Unsupported (sparse arrays, dtypes that there are not here) or OutOfMemory.
std::vector<formats::NamedTensor> read_params(const formats::Location& location,
                                              const formats::Progress& progress = nullptr);

}  // namespace relay::models::nnvm
