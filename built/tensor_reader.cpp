#include "built/tensor_reader.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "built/format.h"
#include "lang/wrapped_memory.h"

namespace relay::built {

namespace {

// How many bytes a tensor has; fails where that is no number.
std::int64_t bytes_of(lang::DType dtype, const std::vector<std::int64_t>& shape) {
  auto size = static_cast<std::int64_t>(lang::size_of(dtype));
  bool is_empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) fail_damaged();
    is_empty = is_empty || extent == 0;
    if (__builtin_mul_overflow(size, std::max<std::int64_t>(extent, 1), &size)) fail_damaged();
  }
  return is_empty ? 0 : size;
}

lang::TensorRef copied(lang::DType dtype, const std::vector<std::int64_t>& shape,
                       std::string_view bytes) {
  lang::TensorRef tensor = lang::Tensor::make(dtype, shape);
  if (!bytes.empty()) std::memcpy(tensor->data(), bytes.data(), bytes.size());
  return tensor;
}

lang::TensorRef in_place(lang::DType dtype, std::vector<std::int64_t> shape,
                         std::string_view bytes) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  auto* const data = reinterpret_cast<std::byte*>(const_cast<char*>(bytes.data()));
  return lang::wrap_memory(dtype, std::move(shape), std::move(strides), data, [] {});
}

}  // namespace

TensorReader::TensorReader(lang::ByteReader& from, std::string_view bytes, std::size_t data)
    : from_(from), bytes_(bytes), data_(data) {
  for (std::size_t left = from_.count(); left > 0; --left) tensors_.push_back(read());
  if (data_ != bytes_.size()) fail_damaged();
}

lang::TensorRef TensorReader::read() {
  const auto dtype = static_cast<lang::DType>(from_.byte_below(lang::kDTypeCount));
  std::vector<std::int64_t> shape;
  for (std::size_t left = from_.count(); left > 0; --left)
    shape.push_back(static_cast<std::int64_t>(from_.number()));
  const auto size = static_cast<std::size_t>(bytes_of(dtype, shape));
  if (size < kSmallestData) return copied(dtype, shape, from_.bytes(size));
  const std::size_t begin = aligned(data_);
  if (begin > bytes_.size() || size > bytes_.size() - begin) fail_damaged();
  const std::string_view bytes = bytes_.substr(begin, size);
  data_ = begin + size;
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(bytes.data()) % lang::size_of(dtype) == 0;
  return is_aligned ? in_place(dtype, std::move(shape), bytes) : copied(dtype, shape, bytes);
}

}  // namespace relay::built
