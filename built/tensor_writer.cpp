#include "built/tensor_writer.h"

#include "built/format.h"

namespace relay::built {

using lang::Tensor;

namespace {

std::size_t byte_count(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.element_count()) * lang::size_of(tensor.dtype());
}

// Row-major.
template <class Append>
void append_elements(const Tensor& tensor, const Append& append) {
  const lang::TensorRef whole =
      tensor.is_contiguous() ? nullptr : contiguous(lang::TensorRef(const_cast<Tensor*>(&tensor)));
  const std::byte* const data = whole ? whole->data() : tensor.data();
  append(std::string_view(reinterpret_cast<const char*>(data), byte_count(tensor)));
}

}  // namespace

void TensorWriter::tensor(const Tensor& tensor, lang::ByteWriter& to) {
  if (const std::uint32_t* number = tensors_.find(&tensor)) return to.number(*number);
  lang::ByteWriter& entry = tensors_.entries;
  entry.byte(static_cast<std::uint8_t>(tensor.dtype()));
  entry.number(tensor.rank());
  for (const std::int64_t extent : tensor.shape()) entry.number(static_cast<std::uint64_t>(extent));
  if (const std::size_t size = byte_count(tensor); size < kSmallestData) {
    append_elements(tensor, [&](std::string_view bytes) { entry.bytes(bytes); });
  } else {
    data_.push_back(&tensor);
    data_size_ = aligned(data_size_) + size;
  }
  to.number(tensors_.add(&tensor));
}

void TensorWriter::append_data(std::string& to) const {
  for (const Tensor* tensor : data_) {
    to.resize(aligned(to.size()));
    append_elements(*tensor, [&](std::string_view bytes) { to.append(bytes); });
  }
}

}  // namespace relay::built
