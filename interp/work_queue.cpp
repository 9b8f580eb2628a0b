#include "interp/work_queue.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

namespace relay::interp {

namespace {

// LLVM recurses over what it compiles. It costs nothing until it is used.
constexpr std::size_t kStack = std::size_t{64} << 20;
constexpr std::chrono::milliseconds kPatience{2};

std::atomic<int> working{0};

}  // namespace

bool is_working() { return working.load() > 0; }

struct WorkQueue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  bool is_ending = false;
  std::atomic<Ticket> done{0};
  Ticket added = 0;
  bool has_thread = false;
  pthread_t thread{};

  static void* run(void* argument) {
    static_cast<State*>(argument)->work();
    return nullptr;
  }

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_ending || !waiting.empty(); });
      if (is_ending) return;
      {
        const std::function<void()> next = std::move(waiting.front());
        waiting.pop_front();
        lock.unlock();
        next();
      }
      lock.lock();
      note_done();
    }
  }

  void note_done() {
    --working;
    done.fetch_add(1, std::memory_order_release);
    changed.notify_all();
  }

  void begin() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStack);
    has_thread = pthread_create(&thread, &attributes, run, this) == 0;
    pthread_attr_destroy(&attributes);
  }
};

WorkQueue::WorkQueue() : state_(std::make_unique<State>()) {}

WorkQueue::~WorkQueue() {
  State& state = *state_;
  if (!state.has_thread) return;
  {
    const std::lock_guard lock(state.mutex);
    state.is_ending = true;
    state.changed.notify_all();
  }
  pthread_join(state.thread, nullptr);
  working -= static_cast<int>(state.waiting.size());
}

WorkQueue::Ticket WorkQueue::add(std::function<void()> work) {
  State& state = *state_;
  ++working;
  const Ticket ticket = ++state.added;
  if (!state.has_thread) state.begin();
  if (state.has_thread) {
    const std::lock_guard lock(state.mutex);
    state.waiting.push_back(std::move(work));
    state.changed.notify_all();
  } else {
    work();
    state.note_done();
  }
  return ticket;
}

bool WorkQueue::is_done(Ticket ticket) const {
  return state_->done.load(std::memory_order_acquire) >= ticket;
}

void WorkQueue::wait(Ticket ticket, lang::Poll poll) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  while (!state.changed.wait_for(lock, kPatience, [&] { return is_done(ticket); })) poll();
}

WorkQueue::Ticket WorkQueue::last() const { return state_->added; }

}  // namespace relay::interp
