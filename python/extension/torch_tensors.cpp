#include "python/extension/torch_tensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace relay::python {

namespace py = pybind11;

namespace {

struct Element {
  const char* name;
  DLDataType type;
};
// The usual ones first.
constexpr std::array<Element, 10> kElements = {{{"float32", {kDLFloat, 32, 1}},
                                                {"float64", {kDLFloat, 64, 1}},
                                                {"int64", {kDLInt, 64, 1}},
                                                {"bool", {kDLBool, 8, 1}},
                                                {"int32", {kDLInt, 32, 1}},
                                                {"float16", {kDLFloat, 16, 1}},
                                                {"bfloat16", {kDLBfloat, 16, 1}},
                                                {"int8", {kDLInt, 8, 1}},
                                                {"uint8", {kDLUInt, 8, 1}},
                                                {"int16", {kDLInt, 16, 1}}}};

// The object that PyTorch has for each of them. Kept for good, as the interpreter may be gone
// before they would be released.
using DTypes = std::array<PyObject*, kElements.size()>;
const DTypes& dtypes() {
  static const DTypes* made = nullptr;  // the GIL guards it: a guard of C++ would wait with the GIL
  if (!made) {
    const py::module_ torch = py::module_::import("torch");
    auto all = std::make_unique<DTypes>();
    for (std::size_t k = 0; k < all->size(); ++k)
      (*all)[k] = py::object(torch.attr(kElements[k].name)).release().ptr();
    made = all.release();
  }
  return *made;
}

// A name of an attribute, and what an object has by it.
class Attribute {
 public:
  explicit Attribute(const char* name) : name_(PyUnicode_InternFromString(name)) {}
  py::object of(py::handle object) const { return checked(PyObject_GetAttr(object.ptr(), name_)); }
  py::object call(py::handle object) const {
    return checked(PyObject_CallMethodObjArgs(object.ptr(), name_, nullptr));
  }

 private:
  static py::object checked(PyObject* made) {
    if (!made) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
  }
  PyObject* name_;
};

void append(const py::object& numbers, std::vector<std::int64_t>& to) {
  if (!PyTuple_Check(numbers.ptr())) throw py::type_error("a shape of PyTorch is no tuple");
  const Py_ssize_t count = PyTuple_GET_SIZE(numbers.ptr());
  if (to.empty()) to.reserve(2 * static_cast<std::size_t>(count));  // strides come behind the shape
  for (Py_ssize_t k = 0; k < count; ++k)
    to.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(numbers.ptr(), k)));
}

}  // namespace

bool is_torch_type(PyTypeObject* type) {
  const py::object torch = py::module_::import("sys").attr("modules").attr("get")("torch");
  if (torch.is_none()) return false;
  const py::object tensor = py::getattr(torch, "Tensor", py::none());
  return PyType_Check(tensor.ptr()) != 0 &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(tensor.ptr())) != 0;
}

LentTensor lent_by_torch(py::handle tensor) {
  static const Attribute dtype("dtype"), requires_grad("requires_grad"), is_cpu("is_cpu"),
      is_neg("is_neg"), resolve_neg("resolve_neg"), shape("shape"), stride("stride"),
      data_ptr("data_ptr");
  const auto found = std::find(dtypes().begin(), dtypes().end(), dtype.of(tensor).ptr());
  if (found == dtypes().end() || requires_grad.of(tensor).ptr() != Py_False ||
      is_cpu.of(tensor).ptr() != Py_True)
    return nullptr;
  py::object owner = py::reinterpret_borrow<py::object>(tensor);
  if (is_neg.call(tensor).ptr() == Py_True) owner = resolve_neg.call(tensor);
  std::vector<std::int64_t> extents;
  append(shape.of(owner), extents);
  append(stride.call(owner), extents);
  void* const data = PyLong_AsVoidPtr(data_ptr.call(owner).ptr());
  if (PyErr_Occurred()) throw py::error_already_set();
  return lent_by(std::move(owner), data,
                 kElements[static_cast<std::size_t>(found - dtypes().begin())].type,
                 std::move(extents));
}

}  // namespace relay::python
