#pragma once

#include <string>

#include <pybind11/pybind11.h>

#include "python/extension/value.h"

// Tensors as NumPy's arrays and as capsules of DLPack, without a copy where that can be.
namespace relay::python {

bool is_array(pybind11::handle object);
// A tensor over the memory of an array, which it keeps alive. Raises TypeError for elements that
// are none of Relay's.
pybind11::object from_array(pybind11::handle array);
// A tensor over what a capsule "dltensor" has, which becomes a "used_dltensor".
pybind11::object from_dlpack(const pybind11::capsule& capsule);
// The same as values that are no objects of Python, which would cost as much as all the rest.
relay_value* value_of_array(pybind11::handle array);
relay_value* value_of_capsule(pybind11::handle capsule);
// The tensor of another library, by `__dlpack__`; null for what has none.
relay_value* value_of_library(pybind11::handle object);

pybind11::tuple shape_of(const Tensor& tensor);
std::string dtype_of(const Tensor& tensor);
// An array that may only be read, and keeps the tensor alive. Raises TypeError for bfloat16.
pybind11::object to_array(const pybind11::object& tensor);
pybind11::capsule to_dlpack(const Tensor& tensor, const pybind11::object& stream);

}  // namespace relay::python
