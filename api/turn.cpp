#include "api/turn.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lang/cell_memory.h"
#include "lang/memory.h"
#include "lang/ref.h"
#include "lang/stop.h"
#include "lang/tensor.h"

namespace relay::api {

namespace {

// Never destroyed: values may be released while static objects are taken down.
struct State {
  std::mutex mutex;
  std::condition_variable freed;
  bool is_taken = false;
  std::thread::id owner;
  Caller* running = nullptr;
  std::vector<std::function<void()>> later;  // in some turn
  std::vector<std::function<void()>> after;  // outside of it; of the thread that has the turn
};
State& state() {
  static auto* const made = new State;
  return *made;
}
std::atomic<bool> is_running{false};

// What a thread keeps for its next call goes when it ends.
struct ThreadMemory {
  bool is_used = false;
  ~ThreadMemory() {
    if (!is_used) return;
    State& all = state();
    {
      const std::lock_guard lock(all.mutex);
      if (all.is_taken) return;
      all.is_taken = true;
      all.owner = std::this_thread::get_id();
    }
    lang::free_put_off();
    lang::Tensor::free_kept();
    lang::trim_cells();
    const std::lock_guard lock(all.mutex);
    all.is_taken = false;
    all.freed.notify_one();
  }
};
thread_local ThreadMemory thread_memory;

constexpr std::size_t kMostKept = 64;

// What has come up for the holder of the turn, until nothing has; then it is free.
void give_back(State& all) {
  // What an interrupt has put off is of this thread, which may never call again.
  if (!lang::is_stopping()) lang::free_put_off();
  std::vector<std::function<void()>> work;
  while (true) {
    std::vector<std::function<void()>> after;
    {
      const std::lock_guard lock(all.mutex);
      work.swap(all.later);
      if (work.empty()) {
        if (work.capacity() <= kMostKept) work.swap(all.later);  // the memory, for the next turn
        all.running = nullptr;
        is_running = false;
        // A request that came too late belongs to what has just ended.
        if (lang::is_stopping()) lang::clear_stop();
        after.swap(all.after);
        all.is_taken = false;
        all.owner = {};
      }
    }
    if (work.empty()) {
      all.freed.notify_one();
      for (const auto& each : after) each();
      return;
    }
    for (const auto& each : work) each();
    work.clear();
  }
}

}  // namespace

Turn::Turn(Caller* caller) {
  State& all = state();
  std::unique_lock lock(all.mutex);
  if (all.is_taken && all.owner == std::this_thread::get_id()) {
    why_ = make_error("Busy", "a function that the library calls has called the library");
    return;
  }
  if (caller) ++caller->waiting;
  all.freed.wait(lock, [&] { return !all.is_taken || (caller && caller->is_interrupted); });
  if (caller) --caller->waiting;
  if (caller && caller->is_interrupted) {
    if (caller->waiting == 0) caller->is_interrupted = false;
    why_ = make_error("Interrupted", "interrupted");
    if (!all.is_taken) all.freed.notify_one();
    return;
  }
  all.is_taken = true;
  all.owner = std::this_thread::get_id();
  all.running = caller;
  if (caller) is_running = true;
  is_held_ = true;
  thread_memory.is_used = true;
}

Turn::~Turn() {
  if (is_held_) give_back(state());
}

void interrupt(Caller& caller) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (all.running == &caller) lang::request_stop(lang::Stop::Interrupted);
  if (caller.waiting > 0) {
    caller.is_interrupted = true;
    all.freed.notify_all();
  }
}

bool interrupt_any() {
  if (!is_running) return false;
  lang::request_stop(lang::Stop::Interrupted);
  return true;
}

void in_some_turn(std::function<void()> work) noexcept {
  State& all = state();
  {
    const std::lock_guard lock(all.mutex);
    all.later.push_back(std::move(work));
    if (all.is_taken) return;
    all.is_taken = true;
    all.owner = std::this_thread::get_id();
  }
  thread_memory.is_used = true;
  give_back(all);
}

void after_turn(std::function<void()> work) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.after.push_back(std::move(work));
}

}  // namespace relay::api
