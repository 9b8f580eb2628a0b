#pragma once

#include <relay.h>

#include <csignal>

#include <pybind11/pybind11.h>

namespace relay::python {

void note_main_thread();

// While one lives, Ctrl-C ends what Relay runs for the main thread, besides what Python does then,
// but not in its first hundredth of a second. Python itself only looks at signals between its own
// instructions.
class SignalsDuring {
 public:
  SignalsDuring();
  ~SignalsDuring();
  SignalsDuring(const SignalsDuring&) = delete;
  SignalsDuring& operator=(const SignalsDuring&) = delete;

 private:
  bool is_watched_ = false;
};

// Raises what an error is in Python; takes it. Does nothing with NULL.
void raise(relay_error* error);

// A call of the interface, without the GIL. Raises.
template <class F>
void interruptible(const F& call) {
  relay_error* error = nullptr;
  {
    const SignalsDuring signals;
    PyThreadState* const mine = PyEval_SaveThread();  // the call throws nothing
    error = call();
    PyEval_RestoreThread(mine);
  }
  if (error) raise(error);
}

}  // namespace relay::python
