#include "python/extension/lent_memory.h"

#include <memory>
#include <utility>

#include "python/extension/interrupts.h"
#include "python/extension/value.h"

namespace relay::python {

namespace py = pybind11;

namespace {

struct Lent {
  DLManagedTensor tensor{};
  std::vector<std::int64_t> extents;
  PyObject* owner = nullptr;
};

bool is_finalizing() { return Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0; }

// By any thread; where Python is on its way out, what it holds goes with it.
void give_back(DLManagedTensor* tensor) {
  auto* const lent = static_cast<Lent*>(tensor->manager_ctx);
  if (is_finalizing()) return;
  const PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF(lent->owner);
  PyGILState_Release(gil);
  delete lent;
}

}  // namespace

LentTensor lent_by(py::object owner, void* data, DLDataType type,
                   std::vector<std::int64_t> extents) {
  auto lent = std::make_unique<Lent>();
  lent->extents = std::move(extents);
  DLTensor& tensor = lent->tensor.dl_tensor;
  tensor.data = data;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<std::int32_t>(lent->extents.size() / 2);
  tensor.dtype = type;
  tensor.shape = lent->extents.data();
  tensor.strides = tensor.shape + tensor.ndim;
  lent->tensor.manager_ctx = lent.get();
  lent->tensor.deleter = give_back;
  lent->owner = owner.release().ptr();
  return LentTensor(&lent.release()->tensor);
}

relay_error* take(LentTensor& tensor, relay_value*& value) {
  relay_error* const error = relay_tensor_from_dlpack(tensor.get(), &value);
  if (!error) static_cast<void>(tensor.release());
  return error;
}

py::object as_object(LentTensor tensor) {
  relay_value* value = nullptr;
  interruptible([&] { return take(tensor, value); });
  return as_value(value, py::none());
}

}  // namespace relay::python
