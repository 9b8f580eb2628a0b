#include "jit/apart.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

namespace relay::jit {

namespace {

// LLVM recurses over what it compiles. It costs nothing until it is used.
constexpr std::size_t kStack = std::size_t{64} << 20;
constexpr std::chrono::milliseconds kPatience{2};

}  // namespace

struct Apart::State {
  std::mutex mutex;
  std::condition_variable done;
  bool is_done = true;
  bool has_thread = false;
  pthread_t thread{};
  std::function<void()> work;

  static void* run(void* argument) {
    auto& state = *static_cast<State*>(argument);
    state.work();
    const std::lock_guard lock(state.mutex);
    state.is_done = true;
    state.done.notify_all();
    return nullptr;
  }

  void join() {
    if (has_thread) pthread_join(thread, nullptr);
    has_thread = false;
    work = nullptr;
  }
};

Apart::Apart() : state_(std::make_unique<State>()) {}

Apart::~Apart() { state_->join(); }

void Apart::start(std::function<void()> work) {
  State& state = *state_;
  state.join();
  state.work = std::move(work);
  state.is_done = false;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  state.has_thread = pthread_create(&state.thread, &attributes, State::run, &state) == 0;
  pthread_attr_destroy(&attributes);
  if (!state.has_thread) State::run(&state);
}

void Apart::wait(lang::Poll poll) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  while (!state.done.wait_for(lock, kPatience, [&] { return state.is_done; })) poll();
  lock.unlock();
  state.join();
}

}  // namespace relay::jit
