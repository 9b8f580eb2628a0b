#pragma once

#include <functional>
#include <string>
#include <vector>

#include "formats/file_access.h"
#include "lang/diagnostic.h"
#include "lang/tensor.h"

// Tensors in files. The extension of the name says the format: `.npy` and `.npz` (NumPy),
// `.safetensors`, `.csv`, `.png`. Diagnostics name the file and, of a CSV, the line; they have no
// place in a program.
namespace relay::formats {

struct Location {
  std::string path;
  std::string key = {};         // of a file with several tensors; empty: it has only one
  std::string delimiter = ",";  // of a CSV
  bool is_csv = false;          // whatever the extension is
  FileAccess access = {};
};

// What can be told of a tensor without reading its elements. -1: the file has to be read to know.
struct Header {
  lang::DType dtype;
  std::vector<std::int64_t> shape;
};

// Called now and then, before a tenth of a second is over, with what has been read or written of
// the whole, in bytes; -1 where nobody knows how many these are. What it throws ends the work.
using Progress = std::function<void(std::int64_t done, std::int64_t whole)>;

struct NamedTensor {
  std::string name;  // where the format has names
  lang::TensorRef tensor;
};

// A CSV's dtype is float32 here: its text does not say. Fails as `read_tensor` does.
lang::Result<Header> read_header(const Location& location, const Progress& progress = nullptr);

// The tensor, row-major. `dtype`: what the elements of a CSV are read as; other formats have their
// own. Fails with FileError, FileRefused, BadData, Unsupported or OutOfMemory, whatever the file
// holds, and never with anything else.
lang::Result<lang::TensorRef> read_tensor(const Location& location, lang::DType dtype,
                                          const Progress& progress);

// Writes one tensor, or several where the format has names. The file is replaced only once all is
// written: formats/output_file.h. Fails with FileError, FileRefused or BadData (what the format
// cannot hold).
lang::Result<bool> write_tensors(const Location& location, const std::vector<NamedTensor>& tensors,
                                 const Progress& progress);

}  // namespace relay::formats
