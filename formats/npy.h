#pragma once

#include <string>

#include "formats/bytes.h"

// NumPy's `.npy` (format 1.0 to 3.0, numpy.lib.format): a header that is a Python dictionary, and
// the elements.
namespace relay::formats {

struct NpyHeader {
  Header header;
  bool is_big_endian = false;
  bool is_fortran = false;  // the first axis runs fastest
};

// `name`: of the file, for messages.
NpyHeader read_npy_header(ByteReader& reader, const std::string& name);
lang::TensorRef read_npy(ByteReader& reader, const std::string& name, const Progress& progress);
void write_npy(ByteWriter& writer, const std::string& name, const lang::Tensor& tensor,
               const Progress& progress);

}  // namespace relay::formats
