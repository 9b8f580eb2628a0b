#pragma once

#include <string>

#include <pybind11/pybind11.h>

#include "python/extension/lent_memory.h"
#include "python/extension/value.h"

// Tensors as NumPy's arrays and those of other libraries, without a copy where that can be.
namespace relay::python {

bool is_array(pybind11::handle object);
// The memory of an array. Raises TypeError for elements that are none of Relay's.
LentTensor lent_by_array(pybind11::handle array);
// The memory of another library's tensor, by `__dlpack__` or what it says of itself; null for what
// has no `__dlpack__`.
LentTensor lent_by_library(pybind11::handle object);

pybind11::tuple shape_of(const Tensor& tensor);
std::string dtype_of(const Tensor& tensor);
// An array that may only be read, and keeps the tensor alive. Raises TypeError for bfloat16.
pybind11::object to_array(const pybind11::object& tensor);
pybind11::capsule to_dlpack(const Tensor& tensor, const pybind11::object& stream);

}  // namespace relay::python
