#pragma once

#include <relay.h>

#include <cstdint>
#include <memory>
#include <vector>

#include <pybind11/pybind11.h>

// Tensors whose memory is somebody else's, until a value takes them.
namespace relay::python {

struct GiveBack {
  void operator()(DLManagedTensor* tensor) const {
    if (tensor->deleter) tensor->deleter(tensor);
  }
};
using LentTensor = std::unique_ptr<DLManagedTensor, GiveBack>;

// Memory of `owner`, which it keeps alive. `extents`: the shape, and behind it the strides, in
// elements.
LentTensor lent_by(pybind11::object owner, void* data, DLDataType type,
                   std::vector<std::int64_t> extents);
// The value over it, which takes it. Waits for its turn, so without the GIL.
relay_error* take(LentTensor& tensor, relay_value*& value);
// The same, as an object of Python. Raises.
pybind11::object as_object(LentTensor tensor);

}  // namespace relay::python
