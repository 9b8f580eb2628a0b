#include "python/extension/interrupts.h"

#include <pthread.h>

#include <cstring>

namespace relay::python {

namespace py = pybind11;

namespace {

pthread_t main_thread;
struct sigaction previous;  // while another is set

void on_interrupt(int number) {
  relay_interrupt_any();
  previous.sa_handler(number);
}

}  // namespace

void note_main_thread() {
  const auto ident = py::module_::import("threading").attr("main_thread")().attr("ident");
  main_thread = static_cast<pthread_t>(ident.cast<unsigned long>());
}

SignalsDuring::SignalsDuring() {
  if (pthread_equal(pthread_self(), main_thread) == 0) return;
  struct sigaction ours {};
  ours.sa_handler = on_interrupt;
  struct sigaction found {};
  if (sigaction(SIGINT, nullptr, &found) != 0 || (found.sa_flags & SA_SIGINFO) != 0 ||
      found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN ||
      found.sa_handler == on_interrupt)
    return;
  previous = found;
  ours.sa_flags = found.sa_flags;
  ours.sa_mask = found.sa_mask;
  is_set_ = sigaction(SIGINT, &ours, nullptr) == 0;
}

SignalsDuring::~SignalsDuring() {
  if (is_set_) sigaction(SIGINT, &previous, nullptr);
}

}  // namespace relay::python
