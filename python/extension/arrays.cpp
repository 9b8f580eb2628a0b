#include "python/extension/arrays.h"

#include <bit>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>

#include "python/extension/interrupts.h"
#include "python/extension/torch_tensors.h"

namespace relay::python {

namespace py = pybind11;

namespace {

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

const DLTensor& view_of(const Tensor& tensor) { return *relay_tensor_view(tensor.get()); }

}  // namespace

bool is_array(py::handle object) { return py::isinstance<py::array>(object); }

LentTensor lent_by_array(py::handle object) {
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
  std::vector<std::int64_t> extents(array.shape(), array.shape() + array.ndim());
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis)
    extents.push_back(array.strides(axis) / size);
  void* const data = const_cast<void*>(array.data());
  return lent_by(std::move(array), data, type, std::move(extents));
}

namespace {

LentTensor lent_by_capsule(py::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0)
    throw py::value_error("the capsule is no \"dltensor\", or has been taken before");
  LentTensor lent(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor")));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return lent;
}

// The type of other libraries' tensors that was seen last, which is nearly always the same. Kept
// for good, as the interpreter may be gone before it would be released.
struct Library {
  PyTypeObject* type = nullptr;
  bool is_torch = false;
};

}  // namespace

LentTensor lent_by_library(py::handle object) {
  static Library seen;
  static PyObject* const method = PyUnicode_InternFromString("__dlpack__");
  PyTypeObject* const type = Py_TYPE(object.ptr());
  if (type != seen.type) {
    auto* const kept = reinterpret_cast<PyObject*>(type);
    if (PyObject_HasAttr(kept, method) == 0) return nullptr;
    const bool is_torch = is_torch_type(type);
    Py_INCREF(kept);
    seen = {type, is_torch};
  }
  if (seen.is_torch) {
    if (LentTensor lent = lent_by_torch(object)) return lent;
  }
  PyObject* const made = PyObject_CallMethodObjArgs(object.ptr(), method, nullptr);
  if (!made) throw py::error_already_set();
  return lent_by_capsule(py::reinterpret_steal<py::object>(made));
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
