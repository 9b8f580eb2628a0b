#include "python/extension/arrays.h"

#include <memory>
#include <vector>

#include <pybind11/numpy.h>

#include "python/extension/interrupts.h"

namespace relay::python {

namespace py = pybind11;

namespace {

// An array that has been lent to a tensor.
struct Lent {
  DLManagedTensor tensor{};
  std::vector<std::int64_t> extents;
  PyObject* array = nullptr;
};

bool is_finalizing() { return Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0; }

// By any thread; where Python is on its way out, what it holds goes with it.
void give_back(DLManagedTensor* tensor) {
  auto* const lent = static_cast<Lent*>(tensor->manager_ctx);
  if (is_finalizing()) return;
  const py::gil_scoped_acquire gil;
  Py_DECREF(lent->array);
  delete lent;
}

bool elements_of(const py::dtype& dtype, DLDataType& type) {
  const auto bits = static_cast<std::uint8_t>(dtype.itemsize() * 8);
  switch (dtype.kind()) {
    case 'b':
      type = {kDLBool, bits, 1};
      return true;
    case 'i':
      type = {kDLInt, bits, 1};
      return true;
    case 'u':
      type = {kDLUInt, bits, 1};
      return true;
    case 'f':
      type = {kDLFloat, bits, 1};
      return bits <= 64;
    default:
      return false;
  }
}

py::object taken(DLManagedTensor* tensor) {
  relay_value* value = nullptr;
  interruptible([&] { return relay_tensor_from_dlpack(tensor, &value); });
  return to_python(value, py::none());
}

const DLTensor& view_of(const Tensor& tensor) { return *relay_tensor_view(tensor.get()); }

}  // namespace

bool is_array(py::handle object) { return py::isinstance<py::array>(object); }

py::object from_array(py::handle object) {
  auto array = py::reinterpret_borrow<py::array>(object);
  DLDataType type{};
  if (!elements_of(array.dtype(), type)) {
    throw py::type_error("an array of `" + py::str(array.dtype()).cast<std::string>() +
                         "` is no tensor of Relay");
  }
  const auto size = static_cast<py::ssize_t>(array.itemsize());
  bool is_plain = py::detail::array_descriptor_proxy(array.dtype().ptr())->byteorder != '>';
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis)
    is_plain = is_plain && array.strides(axis) % size == 0;
  if (!is_plain) {
    const py::object native = array.dtype().attr("newbyteorder")("=");
    array = py::array(array.attr("astype")(native, py::arg("order") = "C"));
  }
  auto lent = std::make_unique<Lent>();
  lent->extents.assign(array.shape(), array.shape() + array.ndim());
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis)
    lent->extents.push_back(array.strides(axis) / size);
  DLTensor& tensor = lent->tensor.dl_tensor;
  tensor.data = const_cast<void*>(array.data());
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<std::int32_t>(array.ndim());
  tensor.dtype = type;
  tensor.shape = lent->extents.data();
  tensor.strides = tensor.shape + tensor.ndim;
  lent->tensor.manager_ctx = lent.get();
  lent->tensor.deleter = give_back;
  lent->array = array.release().ptr();
  try {
    py::object made = taken(&lent->tensor);
    static_cast<void>(lent.release());
    return made;
  } catch (...) {
    Py_DECREF(lent->array);
    throw;
  }
}

py::object from_dlpack(const py::capsule& capsule) {
  if (std::string(capsule.name()) != "dltensor")
    throw py::value_error("the capsule is no \"dltensor\", or has been taken before");
  auto* const tensor = capsule.get_pointer<DLManagedTensor>();
  py::object made = taken(tensor);
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return made;
}

py::tuple shape_of(const Tensor& tensor) {
  const DLTensor& view = view_of(tensor);
  py::tuple shape(view.ndim);
  for (std::int32_t axis = 0; axis < view.ndim; ++axis) shape[axis] = view.shape[axis];
  return shape;
}

std::string dtype_of(const Tensor& tensor) {
  const DLDataType type = view_of(tensor).dtype;
  const std::string bits = std::to_string(type.bits);
  switch (type.code) {
    case kDLBool:
      return "bool";
    case kDLBfloat:
      return "bfloat16";
    case kDLInt:
      return "int" + bits;
    case kDLUInt:
      return "uint" + bits;
    default:
      return "float" + bits;
  }
}

py::object to_array(const py::object& object) {
  const auto& tensor = object.cast<const Tensor&>();
  const DLTensor& view = view_of(tensor);
  if (view.dtype.code == kDLBfloat)
    throw py::type_error("NumPy has no bfloat16; torch.from_dlpack takes the tensor");
  const py::dtype dtype(dtype_of(tensor));
  std::vector<py::ssize_t> shape(view.shape, view.shape + view.ndim);
  std::vector<py::ssize_t> strides;
  for (std::int32_t axis = 0; axis < view.ndim; ++axis)
    strides.push_back(view.strides[axis] * dtype.itemsize());
  py::array array(dtype, shape, strides, view.data, object);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

py::capsule to_dlpack(const Tensor& tensor, const py::object&) {
  DLManagedTensor* handed = nullptr;
  interruptible([&] { return relay_tensor_to_dlpack(tensor.get(), &handed); });
  return py::capsule(handed, "dltensor", [](PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;  // somebody has taken it
    auto* const left = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    left->deleter(left);
  });
}

}  // namespace relay::python
