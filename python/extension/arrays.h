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

pybind11::tuple shape_of(const Tensor& tensor);
std::string dtype_of(const Tensor& tensor);
// An array that may only be read, and keeps the tensor alive. Raises TypeError for bfloat16.
pybind11::object to_array(const pybind11::object& tensor);
pybind11::capsule to_dlpack(const Tensor& tensor, const pybind11::object& stream);

}  // namespace relay::python
