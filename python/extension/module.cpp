// The extension `relay._relay`: engines, values and errors of relay.h as Python objects. What a
// value is in Python beyond that, the package says (python/relay).

#include <pybind11/stl.h>

#include "python/extension/interrupts.h"
#include "python/extension/value.h"

namespace py = pybind11;
using namespace relay::python;  // NOLINT: the extension itself

namespace {

// What a program prints goes where Python's `print` does, or to the function that was given.
void write(void* context, const char* text, size_t size) {
  const py::gil_scoped_acquire gil;
  try {
    (*static_cast<py::object*>(context))(py::str(text, size));
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) {
      relay_interrupt_any();
      PyErr_SetInterrupt();  // is seen again where the call ends
    } else {
      error.discard_as_unraisable("the output of a Relay program");
    }
  }
}

// A text as the interface takes it, which would end at the first null character.
const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos)
    throw py::value_error("there is a null character in the text");
  return text.c_str();
}

// `home`: the Python object whose values these are.
class Engine {
 public:
  Engine(const std::string& jit, int threads, double seconds, std::uint64_t bytes,
         const std::string& search_path, const std::string& code_cache, py::object output)
      : output_(std::move(output)) {
    relay_options options;
    relay_options_init(&options);
    if (jit == "off") {
      options.jit = RELAY_JIT_OFF;
    } else if (jit == "always") {
      options.jit = RELAY_JIT_ALWAYS;
    } else if (jit != "auto") {
      throw py::value_error("`jit` is \"auto\", \"off\" or \"always\", not \"" + jit + "\"");
    }
    options.threads = threads;
    options.seconds = seconds;
    options.bytes = bytes;
    options.search_path = search_path.c_str();
    options.code_cache = code_cache.empty() ? nullptr : code_cache.c_str();
    options.write = write;
    options.context = &output_;
    interruptible([&] { return relay_engine_new(&options, &engine_); });
  }
  ~Engine() { close(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void close() {
    const py::gil_scoped_release running;
    relay_engine_free(std::exchange(engine_, nullptr));
  }
  py::object load(const std::string& path, const py::object& home) {
    const char* const at = c_text(path);
    return given(home, [&](relay_value** last) { return relay_load(engine_, at, last); });
  }
  py::object run(const std::string& name, const std::string& text, const py::object& home) {
    const char* const called = c_text(name);
    const char* const items = c_text(text);
    return given(home, [&](relay_value** last) { return relay_run(engine_, called, items, last); });
  }
  py::object eval(const std::string& text, const py::object& home) {
    const char* const expr = c_text(text);
    return given(home, [&](relay_value** value) { return relay_eval(engine_, expr, value); });
  }
  py::object get(const std::string& name, const py::object& home) {
    return given(home,
                 [&](relay_value** value) { return relay_get(engine_, name.c_str(), value); });
  }
  py::object value(const std::string& name, const py::object& home) {
    relay_value* value = nullptr;
    interruptible([&] { return relay_get(engine_, name.c_str(), &value); });
    return as_value(value, home);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    while (const char* name = relay_name(engine_, all.size())) all.emplace_back(name);
    return all;
  }
  std::string doc(const std::string& name) const { return relay_doc(engine_, name.c_str()); }
  void interrupt() { relay_interrupt(engine_); }

 private:
  template <class F>
  py::object given(const py::object& home, const F& call) {
    relay_value* value = nullptr;
    interruptible([&] { return call(&value); });
    return value ? to_python(value, home) : py::none();
  }
  relay_engine* engine_ = nullptr;
  py::object output_;
};

}  // namespace

PYBIND11_MODULE(_relay, module) {
  note_main_thread();
  module.attr("version") = relay_version();
  module.def("set_hooks", &set_hooks);

  py::class_<Engine>(module, "Engine")
      .def(py::init<const std::string&, int, double, std::uint64_t, const std::string&,
                    const std::string&, py::object>())
      .def("close", &Engine::close)
      .def("load", &Engine::load)
      .def("run", &Engine::run)
      .def("eval", &Engine::eval)
      .def("get", &Engine::get)
      .def("value", &Engine::value)
      .def("names", &Engine::names)
      .def("doc", &Engine::doc)
      .def("interrupt", &Engine::interrupt);
  define_values(module);
}
