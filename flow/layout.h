#pragma once

#include <cstddef>
#include <cstdint>

namespace relay::flow {

// Where native code finds the parts of heap objects, in bytes from their beginning. Measured on
// live objects, so that it is what the compiler of this program chose.
struct Layout {
  std::size_t refs;        // of any Counted: a uint32
  std::size_t cell_count;  // of a Tuple or Adt: a uint32 behind that
  std::size_t tensor_bytes;
  std::size_t tensor_data;      // pointer
  std::size_t tensor_shape;     // pointer to int64, and behind it to the end
  std::size_t tensor_strides;   // the same
  std::size_t tensor_buffer;    // pointer to a Counted
  std::size_t buffer_content;   // of a tensor's buffer: a uint64, 0 where it is about to change
  std::size_t buffer_size;      // of the same: a uint64, in bytes
  std::size_t adt_constructor;  // pointer
  std::size_t adt_fields;       // the first Value
  std::size_t tuple_fields;
  std::uintptr_t adt_begin;  // the first word, that of virtual functions
  std::uintptr_t tuple_begin;
  std::size_t constructor_tag;  // of a lang::Constructor: a uint32
  std::size_t value_kind = 0;   // of a Value: bytes, and a word
  std::size_t value_dtype = 1;
  std::size_t value_bits = 8;
};
const Layout& layout();

}  // namespace relay::flow
