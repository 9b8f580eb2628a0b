#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lang/bytes.h"
#include "lang/tensor.h"

namespace relay::built {

// Reads what a TensorWriter has written: the table first, then references to it.
class TensorReader {
 public:
  // `bytes`: all, of which those from `data` on are the data.
  TensorReader(lang::ByteReader& from, std::string_view bytes, std::size_t data);
  const lang::TensorRef& tensor() { return from_.at(tensors_); }

 private:
  lang::TensorRef read();

  lang::ByteReader& from_;
  std::string_view bytes_;
  std::size_t data_;  // where those of the next tensor begin, before it is aligned
  std::vector<lang::TensorRef> tensors_;
};

}  // namespace relay::built
