#pragma once

#include <relay.h>

#include <utility>

#include <pybind11/pybind11.h>

namespace relay::python {

// A value that Python holds. `home`: the object whose program it belongs to, or None.
class Value {
 public:
  Value(relay_value* value, pybind11::object home) : value_(value), home_(std::move(home)) {}
  ~Value() { relay_value_release(value_); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  relay_value* get() const { return value_; }
  const pybind11::object& home() const { return home_; }

 private:
  relay_value* value_;
  pybind11::object home_;
};
class Tensor : public Value {
 public:
  using Value::Value;
};
class Function : public Value {
 public:
  using Value::Value;
};

// What the package does for the extension: the class of errors; the value of an object that is none
// yet, `to_value(object, home)`; what a value that is neither a tensor nor a function is in Python,
// `from_value(value, home)`.
void set_hooks(pybind11::object error, pybind11::object to_value, pybind11::object from_value);
// These take the value: as it is, and as what it is in Python.
pybind11::object as_value(relay_value* value, const pybind11::object& home);
pybind11::object to_python(relay_value* value, const pybind11::object& home);
void define_values(pybind11::module_& module);

}  // namespace relay::python
