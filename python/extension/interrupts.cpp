#include "python/extension/interrupts.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace relay::python {

namespace py = pybind11;

namespace {

// A call takes less time than setting a handler, so only one that goes on for a while gets it: from
// a thread that looks now and then, and sleeps where nothing has been called for a second.
constexpr std::chrono::milliseconds kPatience{10};
constexpr int kIdle = 100;

struct Watch {
  pthread_t main_thread{};
  std::atomic<std::uint64_t> calls{0};  // begun and ended by the main thread: odd within one
  std::atomic<bool> is_asleep{true};
  std::atomic<bool> is_set{false};  // the handler, in place of `previous`
  std::mutex mutex;                 // of what follows, and of changing the others
  std::condition_variable woken;
  bool has_thread = false;
  struct sigaction previous {};

  void wake() {
    const std::lock_guard lock(mutex);
    is_asleep = false;
    if (!has_thread) {
      std::thread([this] { watch(); }).detach();
      has_thread = true;
    }
    woken.notify_one();
  }

  void set();
  void restore() {
    if (!is_set) return;
    is_set = false;
    sigaction(SIGINT, &previous, nullptr);
  }

 private:
  void watch() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock(mutex);
    for (int idle = 0; true;) {
      const std::uint64_t seen = calls;
      woken.wait_for(lock, kPatience);
      if (calls != seen) {
        idle = 0;
      } else if (seen % 2 == 1) {
        if (!is_set) set();
        if (calls != seen) restore();  // it has just ended
      } else if (++idle == kIdle) {
        is_asleep = true;
        woken.wait(lock, [this] { return !is_asleep; });
        idle = 0;
      }
    }
  }
};

// Never destroyed: its thread goes on until the process ends.
Watch& the_watch() {
  static auto* const made = new Watch;
  return *made;
}

void on_interrupt(int number) {
  relay_interrupt_any();
  the_watch().previous.sa_handler(number);
}

// Nothing where Ctrl-C is not Python's own business.
void Watch::set() {
  struct sigaction found {};
  if (sigaction(SIGINT, nullptr, &found) != 0 || (found.sa_flags & SA_SIGINFO) != 0 ||
      found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN)
    return;
  previous = found;
  found.sa_handler = on_interrupt;
  is_set = sigaction(SIGINT, &found, nullptr) == 0;
}

}  // namespace

void note_main_thread() {
  const auto ident = py::module_::import("threading").attr("main_thread")().attr("ident");
  the_watch().main_thread = static_cast<pthread_t>(ident.cast<unsigned long>());
}

SignalsDuring::SignalsDuring() {
  Watch& watch = the_watch();
  is_watched_ = pthread_equal(pthread_self(), watch.main_thread) != 0;
  if (!is_watched_) return;
  ++watch.calls;
  if (watch.is_asleep) watch.wake();
}

SignalsDuring::~SignalsDuring() {
  if (!is_watched_) return;
  Watch& watch = the_watch();
  ++watch.calls;
  if (!watch.is_set) return;
  const std::lock_guard lock(watch.mutex);
  watch.restore();
}

}  // namespace relay::python
