#pragma once

#include <cstdint>

#include "formats/formats.h"

// Hugging Face's `.safetensors`: the length of a JSON header, the header, the elements of all
// tensors. All throw Failure.
namespace relay::formats {

Header read_safetensors_header(const Location& location, const Progress& progress);
lang::TensorRef read_safetensors(const Location& location, const Progress& progress);
void write_safetensors(const Location& location, const std::vector<NamedTensor>& tensors,
                       const Progress& progress);

// How many headers have been read since the process began: what has been kept of a file that has
// not been written since is not read again.
std::int64_t safetensors_headers_read();

}  // namespace relay::formats
