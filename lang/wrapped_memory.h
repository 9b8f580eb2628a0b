#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lang/tensor.h"

// Tensors over memory that somebody else owns, for programs that hand over theirs. Nothing is ever
// written to it: is_wrapped() tells what would reuse an operand's memory.
namespace relay::lang {

// Strides are in elements and not negative; `data` is aligned to an element. `release` is called
// once nothing refers to the memory, by whoever drops the last reference; it throws nothing. When
// this function throws, it has not been called.
TensorRef wrap_memory(DType dtype, std::vector<std::int64_t> shape,
                      std::vector<std::int64_t> strides, std::byte* data,
                      std::function<void()> release);
// Is the tensor, or what it is a view of, such memory?
bool is_wrapped(const Tensor& tensor);

// A buffer of this size may stand for such memory; asked when it is freed.
inline constexpr std::size_t kWrapperSize = 23;
void release_wrapped(const std::byte* wrapper) noexcept;

}  // namespace relay::lang
