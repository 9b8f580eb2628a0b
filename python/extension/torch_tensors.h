#pragma once

#include <pybind11/pybind11.h>

#include "python/extension/lent_memory.h"

// PyTorch's tensors, by what they say of themselves: their capsule takes longer to make than a call
// of a small function, says of booleans that they are uint8, and of a negative view what it is a
// view of.
namespace relay::python {

// Is it PyTorch's type of tensors, or one below that?
bool is_torch_type(PyTypeObject* type);
// Its memory; null where `__dlpack__` is to say why it is not to be had.
LentTensor lent_by_torch(pybind11::handle tensor);

}  // namespace relay::python
