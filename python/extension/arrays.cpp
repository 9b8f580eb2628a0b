#include "python/extension/arrays.h"

#include <bit>
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
  const PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF(lent->array);
  PyGILState_Release(gil);
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

relay_value* taken(DLManagedTensor* tensor) {
  relay_value* value = nullptr;
  interruptible([&] { return relay_tensor_from_dlpack(tensor, &value); });
  return value;
}

const DLTensor& view_of(const Tensor& tensor) { return *relay_tensor_view(tensor.get()); }

}  // namespace

bool is_array(py::handle object) { return py::isinstance<py::array>(object); }

py::object from_array(py::handle array) { return to_python(value_of_array(array), py::none()); }

relay_value* value_of_array(py::handle object) {
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
    relay_value* const made = taken(&lent->tensor);
    static_cast<void>(lent.release());
    return made;
  } catch (...) {
    Py_DECREF(lent->array);
    throw;
  }
}

py::object from_dlpack(const py::capsule& capsule) {
  return to_python(value_of_capsule(capsule), py::none());
}

relay_value* value_of_capsule(py::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0)
    throw py::value_error("the capsule is no \"dltensor\", or has been taken before");
  relay_value* const made =
      taken(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor")));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return made;
}

namespace {

// The type of other libraries' tensors that was seen last, which is nearly always the same. Kept
// for good, as the interpreter may be gone before it would be released.
struct Library {
  PyObject* type = nullptr;
  PyObject* boolean = nullptr;  // PyTorch's dtype, of which its capsule says uint8
  // What PyTorch's `__dlpack__` comes to for tensors without a gradient, in half of the time.
  PyObject* to_dlpack = nullptr;
};

Library library_of(PyTypeObject* type) {
  auto* const object = reinterpret_cast<PyObject*>(type);
  if (PyObject_HasAttrString(object, "__dlpack__") == 0) return {};
  Py_INCREF(object);
  Library made{object};
  const py::object module = py::getattr(object, "__module__", py::none());
  if (py::isinstance<py::str>(module) && module.cast<std::string>() == "torch") {
    const py::module_ torch = py::module_::import("torch");
    made.boolean = py::object(torch.attr("bool")).release().ptr();
    if (py::object(torch.attr("Tensor")).ptr() == object) {
      const py::object found = torch.attr("utils").attr("dlpack").attr("to_dlpack");
      made.to_dlpack = found.inc_ref().ptr();
    }
  }
  return made;
}

py::object member(py::handle object, PyObject* name) {
  PyObject* const found = PyObject_GetAttr(object.ptr(), name);
  if (!found) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(found);
}

}  // namespace

relay_value* value_of_library(py::handle object) {
  static Library seen;
  static PyObject* const method = PyUnicode_InternFromString("__dlpack__");
  static PyObject* const dtype = PyUnicode_InternFromString("dtype");
  static PyObject* const requires_grad = PyUnicode_InternFromString("requires_grad");
  PyTypeObject* const type = Py_TYPE(object.ptr());
  if (reinterpret_cast<PyObject*>(type) != seen.type) {
    const Library found = library_of(type);
    if (!found.type) return nullptr;
    seen = found;
  }
  if (seen.boolean && member(object, dtype).ptr() == seen.boolean)
    return value_of_array(object.attr("numpy")());
  const bool is_plain = seen.to_dlpack && member(object, requires_grad).ptr() == Py_False;
  PyObject* const made = is_plain
                             ? PyObject_CallFunctionObjArgs(seen.to_dlpack, object.ptr(), nullptr)
                             : PyObject_CallMethodObjArgs(object.ptr(), method, nullptr);
  if (!made) throw py::error_already_set();
  return value_of_capsule(py::reinterpret_steal<py::object>(made));
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

namespace {

// NumPy looks up a dtype by its name in the time of a whole call.
py::dtype numpy_dtype(const Tensor& tensor) {
  constexpr std::size_t kCodes = kDLBool + 1, kSizes = 4;
  static PyObject* made[kCodes][kSizes];  // kept for good
  const DLDataType type = view_of(tensor).dtype;
  const auto size = static_cast<unsigned>(std::countr_zero(type.bits)) - 3U;
  PyObject*& place = made[type.code][size];
  if (!place) place = py::dtype(dtype_of(tensor)).release().ptr();
  return py::reinterpret_borrow<py::dtype>(place);
}

}  // namespace

py::object to_array(const py::object& object) {
  const auto& tensor = object.cast<const Tensor&>();
  const DLTensor& view = view_of(tensor);
  if (view.dtype.code == kDLBfloat)
    throw py::type_error("NumPy has no bfloat16; torch.from_dlpack takes the tensor");
  const py::dtype dtype = numpy_dtype(tensor);
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
