#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "built/tables.h"
#include "lang/tensor.h"

namespace relay::built {

// Writes the table of tensors, and the data behind everything else.
class TensorWriter {
 public:
  // Writes a reference.
  void tensor(const lang::Tensor& tensor, lang::ByteWriter& to);

  void append_to(lang::ByteWriter& to) const { tensors_.append_to(to); }
  // How many bytes append_data() adds.
  std::size_t data_size() const { return data_size_; }
  // `to` has a multiple of kAlignment bytes.
  void append_data(std::string& to) const;

 private:
  Table<lang::Tensor> tensors_;
  std::vector<const lang::Tensor*> data_;  // those whose data are not in the table
  std::size_t data_size_ = 0;
};

}  // namespace relay::built
