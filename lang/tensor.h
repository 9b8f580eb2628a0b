#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "lang/dtype.h"
#include "lang/ref.h"

namespace relay::lang {

// A counted, 64-byte-aligned block of bytes from the pool.
class Buffer final : public Counted {
 public:
  // Cost: pooled by size class; a fresh block is not cleared. Throws Failure(OutOfMemory).
  static Ref<Buffer> allocate(std::size_t bytes);
  ~Buffer() override;  // gives the block back to the pool
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  // A number for what the buffer holds, which no other content of any buffer has had. Asked for
  // once it is complete.
  std::uint64_t content() const {
    if (content_ == 0) content_ = ++last_content_;
    return content_;
  }
  // To be called where the memory is about to be written again.
  void forget_content() { content_ = 0; }

 private:
  Buffer(std::byte* data, std::size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  std::size_t size_;
  mutable std::uint64_t content_ = 0;  // 0: nobody has asked
  static std::uint64_t last_content_;
};

// A dense or strided array. Strides are in elements; views share the buffer. Immutable once shared:
// only the code that has just made it writes.
//
// A loop makes and drops tensors of the same few shapes over and over: a thread keeps some small
// ones that have been dropped, whole, for the next of their shape.
class Tensor final : public Counted {
 public:
  // Row-major, contents undefined.
  static Ref<Tensor> make(DType dtype, std::span<const std::int64_t> shape);
  static Ref<Tensor> make(DType dtype, std::initializer_list<std::int64_t> shape);
  // Rank 0. `bits` holds the element's bytes in its low end.
  static Ref<Tensor> scalar(DType dtype, std::uint64_t bits);
  static Ref<Tensor> view(const Tensor& base, std::vector<std::int64_t> shape,
                          std::vector<std::int64_t> strides, std::int64_t offset_elements);

  DType dtype() const { return dtype_; }
  std::size_t rank() const { return shape_.size(); }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }
  std::int64_t element_count() const;
  bool is_contiguous() const;  // row-major without gaps
  bool owns_buffer_alone() const { return buffer_->is_unique(); }
  // Of the buffer: views of different parts have the same.
  std::uint64_t content() const { return buffer_->content(); }
  void forget_content() const { buffer_->forget_content(); }

  std::byte* data() const { return data_; }
  template <class T>
  T* data_as() const {
    return reinterpret_cast<T*>(data_);
  }
  // Element at a row-major linear index, by its bits, or as a number (converted exactly where
  // possible).
  std::uint64_t bits_at(std::int64_t linear) const;
  double number_at(std::int64_t linear) const;
  void set_bits(std::int64_t linear, std::uint64_t bits);

  static void operator delete(Tensor* tensor, std::destroying_delete_t);
  // Gives back what this thread has kept of tensors that were dropped; false where that is nothing.
  static bool free_kept();
  // The bytes of kept tensors that were made again, by this thread so far.
  static std::size_t bytes_made_again();

  Tensor(DType dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
         Ref<Buffer> buffer, std::byte* data)
      : dtype_(dtype),
        shape_(std::move(shape)),
        strides_(std::move(strides)),
        buffer_(std::move(buffer)),
        data_(data) {}

 private:
  std::int64_t offset_of(std::int64_t linear) const;
  friend struct KeptTensors;
  DType dtype_;
  bool is_whole_ = false;  // made row-major, of all its buffer
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;
  Ref<Buffer> buffer_;
  std::byte* data_;
  Tensor* next_kept_ = nullptr;  // while it is kept
};
using TensorRef = Ref<Tensor>;

TensorRef contiguous(const TensorRef& tensor);     // itself if it already is
bool bit_equal(const Tensor& a, const Tensor& b);  // dtype, shape and bytes
// The bits of a number as an element of `dtype` (floats rounded to nearest even; integers
// truncated).
std::uint64_t bits_from_double(DType dtype, double value);
// Can a literal of this value be an element of the float dtype? Rounding is allowed, but not to
// infinity or zero.
bool can_represent(DType dtype, double value);
std::uint64_t bits_from_int(DType dtype, std::int64_t value);
double double_from_bits(DType dtype, std::uint64_t bits);
std::int64_t int_from_bits(DType dtype, std::uint64_t bits);

}  // namespace relay::lang
