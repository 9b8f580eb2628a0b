#include "flow/layout.h"

#include <cstdint>
#include <cstring>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/value.h"

namespace relay::flow {

namespace {

template <class Part, class Whole>
std::size_t offset_of(const Part* part, const Whole* whole) {
  return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(part) -
                                  reinterpret_cast<const std::byte*>(whole));
}

// Where an object holds a word.
template <class Whole>
std::size_t find_word(const Whole& whole, const void* word) {
  for (std::size_t at = 0; at + sizeof(word) <= sizeof(Whole); at += sizeof(word)) {
    if (std::memcmp(reinterpret_cast<const std::byte*>(&whole) + at, &word, sizeof(word)) == 0)
      return at;
  }
  RELAY_CHECK(false, "a heap object does not hold what it is made of");
  return 0;
}

std::uint32_t count_at(const lang::Counted& object, std::size_t at) {
  std::uint32_t count = 0;
  std::memcpy(&count, reinterpret_cast<const std::byte*>(&object) + at, sizeof(count));
  return count;
}

// The pointer in front of that to the data: what it points to is counted once more by a view.
std::size_t find_buffer(const lang::TensorRef& tensor, std::size_t refs, std::size_t data) {
  const std::size_t at = data - sizeof(void*);
  const lang::Counted* buffer = nullptr;
  std::memcpy(&buffer, reinterpret_cast<const std::byte*>(tensor.get()) + at, sizeof(void*));
  RELAY_CHECK(count_at(*buffer, refs) == 1, "a tensor's buffer is not where it should be");
  const lang::TensorRef view = lang::Tensor::view(*tensor, {3}, {5}, 0);
  RELAY_CHECK(count_at(*buffer, refs) == 2, "a tensor's buffer is not where it should be");
  return at;
}

// The word of the buffer that is no longer 0 once somebody has asked what it holds.
std::size_t find_content(const lang::Tensor& tensor, std::size_t buffer) {
  const std::byte* object = nullptr;
  std::memcpy(&object, reinterpret_cast<const std::byte*>(&tensor) + buffer, sizeof(object));
  const auto word_at = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, object + at, sizeof(word));
    return word;
  };
  constexpr std::size_t kWords = sizeof(lang::Buffer) / sizeof(std::uint64_t);
  std::uint64_t before[kWords];
  tensor.forget_content();
  for (std::size_t i = 0; i < kWords; ++i) before[i] = word_at(i * sizeof(std::uint64_t));
  const std::uint64_t content = tensor.content();
  for (std::size_t i = 0; i < kWords; ++i) {
    if (before[i] == 0 && word_at(i * sizeof(std::uint64_t)) == content)
      return i * sizeof(std::uint64_t);
  }
  RELAY_CHECK(false, "a buffer does not hold the number of its content");
  return 0;
}

// Two of different sizes tell.
std::size_t find_size() {
  constexpr std::size_t kSizes[] = {0x935, 0xd1b};
  std::size_t at[2];
  for (int i = 0; i < 2; ++i) {
    const auto buffer = lang::Buffer::allocate(kSizes[i]);
    at[i] = find_word(*buffer, reinterpret_cast<const void*>(kSizes[i]));  // NOLINT: a number
  }
  RELAY_CHECK(at[0] == at[1], "the size of a buffer is not where it should be");
  return at[0];
}

std::uintptr_t begin_of(const lang::Counted& object) {
  std::uintptr_t word = 0;
  std::memcpy(&word, reinterpret_cast<const std::byte*>(&object), sizeof(word));
  return word;
}

Layout measure() {
  Layout layout{};
  const lang::TensorRef tensor = lang::Tensor::make(lang::DType::Float64, {3, 5});
  layout.refs = sizeof(void*);
  RELAY_CHECK(count_at(*tensor, layout.refs) == 1, "counts are not where they should be");
  {
    const lang::TensorRef again = tensor;  // NOLINT: counted once more
    RELAY_CHECK(count_at(*tensor, layout.refs) == 2, "counts are not where they should be");
  }
  layout.tensor_bytes = sizeof(lang::Tensor);
  layout.tensor_data = find_word(*tensor, tensor->data());
  // A vector begins with the pointer to its elements.
  layout.tensor_shape = find_word(*tensor, tensor->shape().data());
  layout.tensor_strides = find_word(*tensor, tensor->strides().data());
  RELAY_CHECK(find_word(*tensor, tensor->shape().data() + tensor->rank()) ==
                      layout.tensor_shape + sizeof(void*) &&
                  find_word(*tensor, tensor->strides().data() + tensor->rank()) ==
                      layout.tensor_strides + sizeof(void*),
              "the end of a vector is not where it should be");
  layout.tensor_buffer = find_buffer(tensor, layout.refs, layout.tensor_data);
  layout.buffer_content = find_content(*tensor, layout.tensor_buffer);
  layout.buffer_size = find_size();
  lang::Constructor constructor;
  layout.constructor_tag = offset_of(&constructor.tag, &constructor);
  lang::Value field = lang::Value::boolean(true);
  const auto adt = lang::AdtCell::make(&constructor, {&field, 1});
  layout.adt_constructor = find_word(*adt, &constructor);
  layout.adt_fields = offset_of(adt->fields().data(), adt.get());
  const auto tuple = lang::TupleCell::make(1);
  layout.tuple_fields = offset_of(tuple->fields().data(), tuple.get());
  layout.cell_count = layout.refs + sizeof(std::uint32_t);
  const auto triple = lang::TupleCell::make(3);
  RELAY_CHECK(count_at(*adt, layout.cell_count) == 1 && count_at(*triple, layout.cell_count) == 3,
              "the counts of fields are not where they should be");
  layout.adt_begin = begin_of(*adt);
  layout.tuple_begin = begin_of(*tuple);
  const lang::Value value = lang::Value::scalar(lang::DType::Int64, 0x0123456789abcdef);
  std::uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const std::byte*>(&value) + layout.value_bits, sizeof(bits));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  RELAY_CHECK(bits == value.bits() &&
                  bytes[layout.value_kind] == static_cast<std::uint8_t>(value.kind()) &&
                  bytes[layout.value_dtype] == static_cast<std::uint8_t>(value.dtype()),
              "the parts of a value are not where they should be");
  return layout;
}

}  // namespace

const Layout& layout() {
  static const Layout measured = measure();
  return measured;
}

}  // namespace relay::flow
