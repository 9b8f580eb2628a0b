#include "python/extension/value.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include <pybind11/stl.h>

#include "python/extension/arrays.h"
#include "python/extension/interrupts.h"

namespace relay::python {

namespace py = pybind11;

namespace {

// Never destroyed: the interpreter may be gone before they would be.
struct Hooks {
  py::object error;
  py::object to_value;
  py::object from_value;
};
Hooks& hooks() {
  static auto* const made = new Hooks;
  return *made;
}

// A text that may quote a program, which need not be UTF-8.
py::str quoted(const char* text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "backslashreplace");
  if (!made) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

py::object told(const relay_error* error) {
  py::list notes;
  for (std::size_t i = 0; i < relay_error_note_count(error); ++i)
    notes.append(quoted(relay_error_note(error, i)));
  const relay_error* const next = relay_error_next(error);
  return hooks().error(relay_error_kind(error), quoted(relay_error_message(error)),
                       quoted(relay_error_text(error)), quoted(relay_error_file(error)),
                       relay_error_line(error), relay_error_column(error), notes,
                       next ? told(next) : py::none());
}

PyTypeObject* value_type;   // of all that hold a value
PyTypeObject* tensor_type;  // the objects that calls see most

// What an object of these types holds, without a look into pybind11's tables.
template <class T>
const T& held_in(PyObject* object) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  return *static_cast<const T*>(instance->simple_value_holder[0]);
}

// Programs keep functions, which keep their program: Python's collector is to see such circles,
// which it breaks at the program.
int visit_held(PyObject* self, visitproc visit, void* arg) {
  if (PyObject** const members = _PyObject_GetDictPtr(self)) Py_VISIT(*members);
#if PY_VERSION_HEX >= 0x03090000
  Py_VISIT(Py_TYPE(self));
#endif
  const auto* const instance = reinterpret_cast<py::detail::instance*>(self);
  if (const auto* held = static_cast<const Value*>(instance->simple_value_holder[0]))
    Py_VISIT(held->home().ptr());
  return 0;
}
// The collector may run while the object is taken down, and must not look into it then.
void take_down(PyObject* self) {
  PyObject_GC_UnTrack(self);
  py::detail::pybind11_object_dealloc(self);
}
// Nobody but this file makes any: pybind11 would make some that hold nothing.
PyObject* make_none(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "a `%s` is not made by its class, but by relay.tensor or a program",
               type->tp_name);
  return nullptr;
}
py::custom_type_setup collected() {
  return py::custom_type_setup([](PyHeapTypeObject* type) {
    type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->ht_type.tp_traverse = visit_held;
    type->ht_type.tp_dealloc = take_down;
    type->ht_type.tp_new = make_none;
  });
}

relay_value* boolean(bool value) {
  const DLTensor tensor = {&value, {kDLCPU, 0}, 0, {kDLBool, 8, 1}, nullptr, nullptr, 0};
  relay_value* made = nullptr;
  interruptible([&] { return relay_tensor_copy(&tensor, &made); });
  return made;
}

// A number, of the dtype that a call wants; null for anything else, and for what no int64 can be.
relay_value* number(PyObject* object) {
  if (PyFloat_CheckExact(object)) {
    relay_value* made = nullptr;
    interruptible([&] { return relay_float(PyFloat_AS_DOUBLE(object), &made); });
    return made;
  }
  if (PyBool_Check(object)) return boolean(object == Py_True);
  if (!PyLong_CheckExact(object)) return nullptr;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) return nullptr;
  relay_value* made = nullptr;
  interruptible([&] { return relay_int(value, &made); });
  return made;
}

// Memory that is lent for the length of a call; null where there is none.
LentTensor lent_argument(py::handle object) {
  if (is_array(object)) return lent_by_array(object);
  if (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr())) return nullptr;
  return lent_by_library(object);
}

// The arguments of a call as values, and what keeps those alive that were made for it.
class Arguments {
 public:
  Arguments(const py::tuple& args, const py::object& home) {
    values_.reserve(args.size());
    try {
      for (const py::handle each : args) values_.push_back(value_of(each, home));
    } catch (...) {
      release();
      throw;
    }
  }
  ~Arguments() { release(); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  // Has to come first, within the call: without the GIL, which other turns may want.
  relay_error* take() {
    for (Lent& each : lent_) {
      if (relay_error* const error = python::take(each.tensor, values_[each.place])) return error;
      passing_.push_back(values_[each.place]);
    }
    return nullptr;
  }
  relay_value* const* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  void release() {
    for (relay_value* const each : passing_) relay_value_release(each);
  }
  relay_value* value_of(py::handle object, const py::object& home) {
    if (Py_TYPE(object.ptr()) == tensor_type) return held_in<Tensor>(object.ptr()).get();
    if (PyObject_TypeCheck(object.ptr(), value_type)) return held_in<Value>(object.ptr()).get();
    passing_.reserve(values_.capacity());
    if (relay_value* const made = number(object.ptr())) return passing_.emplace_back(made);
    if (LentTensor lent = lent_argument(object)) {
      lent_.push_back({std::move(lent), values_.size()});
      return nullptr;
    }
    made_.push_back(hooks().to_value(object, home));
    return made_.back().cast<const Value&>().get();
  }
  struct Lent {
    LentTensor tensor;
    std::size_t place;
  };
  std::vector<relay_value*> values_;
  std::vector<relay_value*> passing_;
  std::vector<Lent> lent_;  // what take() makes values of
  std::vector<py::object> made_;
};

relay_value* called(const Function& function, const py::tuple& args) {
  Arguments given(args, function.home());
  relay_value* result = nullptr;
  interruptible([&] {
    relay_error* const error = given.take();
    return error ? error : relay_call(function.get(), given.data(), given.size(), &result);
  });
  return result;
}

[[noreturn]] void refuse_names(const py::dict& named) {
  const auto name = named.begin()->first.cast<std::string>();
  throw py::type_error("`" + name +
                       "` cannot be given by its name: an attribute is part of the code, "
                       "as in m.eval(\"fn (x) { f(x, " +
                       name + "=...) }\")");
}

// `f(...)`, as Python itself calls it: the way through pybind11 takes longer than most of the rest.
PyObject* call(PyObject* self, PyObject* args, PyObject* named) {
  try {
    if (named && PyDict_Size(named) > 0) refuse_names(py::reinterpret_borrow<py::dict>(named));
    const auto& function = held_in<Function>(self);
    return to_python(called(function, py::reinterpret_borrow<py::tuple>(args)), function.home())
        .release()
        .ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

using Derive = relay_error* (*)(relay_value*, relay_value**);
py::object derivative(const Function& function, Derive derive) {
  relay_value* made = nullptr;
  interruptible([&] { return derive(function.get(), &made); });
  return to_python(made, function.home());
}

py::object tuple_of(const std::vector<const Value*>& fields, const py::object& home) {
  std::vector<relay_value*> values;
  for (const Value* each : fields) values.push_back(each->get());
  relay_value* made = nullptr;
  interruptible([&] { return relay_tuple(values.data(), values.size(), &made); });
  return as_value(made, home);
}

template <class Convert>
py::list fields_of(const Value& value, const Convert& convert) {
  py::list fields;
  for (std::size_t i = 0; i < relay_field_count(value.get()); ++i) {
    relay_value* field = nullptr;
    interruptible([&] { return relay_field(value.get(), i, &field); });
    fields.append(convert(field, value.home()));
  }
  return fields;
}

// Texts are made in turn with what runs, so without the GIL.
py::object text_of(const Value& value, const char* (*text)(const relay_value*)) {
  const char* found = nullptr;
  {
    const py::gil_scoped_release running;
    found = text(value.get());
  }
  return found ? py::object(quoted(found)) : py::none();
}

const char* kind_of(const Value& value) {
  constexpr std::array kNames = {"tensor", "tuple", "data", "function", "reference"};
  return kNames[relay_value_kind(value.get())];
}

std::vector<std::string> field_names(const Value& value) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < relay_field_count(value.get()); ++i) {
    const char* const name = relay_field_name(value.get(), i);
    names.emplace_back(name ? name : "");
  }
  return names;
}

}  // namespace

void raise(relay_error* error) {
  // Ctrl-C is Python's own exception, where Python has seen it too.
  const bool is_interrupt = std::string(relay_error_kind(error)) == "Interrupted";
  if (is_interrupt && PyErr_CheckSignals() != 0) {
    relay_error_free(error);
    throw py::error_already_set();
  }
  const py::object exception = told(error);
  relay_error_free(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

void set_hooks(py::object error, py::object to_value, py::object from_value) {
  hooks() = {std::move(error), std::move(to_value), std::move(from_value)};
}

py::object as_value(relay_value* value, const py::object& home) {
  constexpr auto kTake = py::return_value_policy::take_ownership;
  switch (relay_value_kind(value)) {
    case RELAY_TENSOR:
      return py::cast(new Tensor(value, py::none()), kTake);
    case RELAY_FUNCTION:
      return py::cast(new Function(value, home), kTake);
    default:
      return py::cast(new Value(value, home), kTake);
  }
}

py::object to_python(relay_value* value, const py::object& home) {
  const relay_kind kind = relay_value_kind(value);
  py::object made = as_value(value, home);
  if (kind == RELAY_TENSOR || kind == RELAY_FUNCTION) return made;
  return hooks().from_value(made, home);
}

void define_values(py::module_& module) {
  py::class_<Value> values(module, "Value", collected());
  values.def_property_readonly("kind", kind_of)
      .def_property_readonly("type", [](const Value& v) { return text_of(v, relay_value_type); })
      .def_property_readonly("text", [](const Value& v) { return text_of(v, relay_value_text); })
      .def_property_readonly("home", &Value::home)
      .def_property_readonly("constructor",
                             [](const Value& v) { return relay_constructor(v.get()); })
      .def_property_readonly("field_names", field_names)
      .def("fields", [](const Value& v) { return fields_of(v, to_python); })
      .def("values", [](const Value& v) { return fields_of(v, as_value); });
  py::class_<Tensor, Value> tensors(module, "Tensor");
  tensors.def_property_readonly("shape", shape_of)
      .def_property_readonly("dtype", dtype_of)
      .def("numpy", to_array)
      .def("__dlpack__", to_dlpack, py::arg("stream") = py::none())
      .def("__dlpack_device__", [](const Tensor&) { return std::pair(1, 0); });
  py::class_<Function, Value> functions(module, "Function", py::dynamic_attr(), collected());
  functions
      .def("value",
           [](const Function& f, const py::args& a) { return as_value(called(f, a), f.home()); })
      .def("_grad", [](const Function& f) { return derivative(f, relay_grad); })
      .def("_value_and_grad", [](const Function& f) { return derivative(f, relay_value_and_grad); })
      .def("_jvp", [](const Function& f) { return derivative(f, relay_jvp); })
      .def("_vjp", [](const Function& f) { return derivative(f, relay_vjp); })
      .def("_linearize", [](const Function& f) { return derivative(f, relay_linearize); })
      .def("_hvp", [](const Function& f) { return derivative(f, relay_hvp); })
      .def("_hessian", [](const Function& f) { return derivative(f, relay_hessian); })
      .def("_jacobian", [](const Function& f) { return derivative(f, relay_jacobian); })
      .def("_check_grad", [](const Function& f) { return derivative(f, relay_check_grad); });
  value_type = reinterpret_cast<PyTypeObject*>(values.ptr());
  tensor_type = reinterpret_cast<PyTypeObject*>(tensors.ptr());
  reinterpret_cast<PyTypeObject*>(functions.ptr())->tp_call = call;
  module.def("from_array", [](py::handle array) { return as_object(lent_by_array(array)); });
  module.def("from_library", [](py::handle object) {
    LentTensor lent = lent_by_library(object);
    return lent ? as_object(std::move(lent)) : py::none();
  });
  module.def("tuple", tuple_of);
}

}  // namespace relay::python
