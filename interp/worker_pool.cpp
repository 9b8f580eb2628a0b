#include "interp/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace relay::interp {

namespace {

// A little longer than a thread takes to be woken, and a kernel that is worth a second thread.
constexpr std::chrono::microseconds kAwake{50};

// For how long a part is left to its thread: to do it here with the data over there takes longer.
constexpr std::chrono::microseconds kLeftToItsThread{20};

constexpr int kLooksBetweenTimes = 16;

// Looks for a short while whether it is so.
template <class Condition>
bool stay_awake(const Condition& is_so, std::chrono::microseconds most = kAwake) {
  const auto end = std::chrono::steady_clock::now() + most;
  do {
    for (int i = 0; i < kLooksBetweenTimes; ++i) {
      if (is_so()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return is_so();
}

std::exception_ptr run_part(const std::function<void(int)>& job, int part) {
  try {
    job(part);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

// What a thread and the one that hands out work tell each other, on one line of their caches.
struct alignas(64) WorkerPool::Worker {
  enum State : int { None, Offered, Taken, Done };

  std::atomic<int> state{None};
  int part = 0;
  const std::function<void(int)>* job = nullptr;
  std::exception_ptr failure;
  pthread_t thread{};

  // Of both sides: whoever takes the part runs it.
  bool take() {
    int offered = Offered;
    return state.compare_exchange_strong(offered, Taken);
  }
  void tell(State now) {
    state.store(now);
    state.notify_one();
  }
  void wait_until(State wanted) {
    if (stay_awake([&] { return state.load(std::memory_order_acquire) == wanted; })) return;
    for (int now = state.load(); now != wanted; now = state.load()) state.wait(now);
  }
  [[noreturn]] void work() {
    for (;;) {
      wait_until(Offered);
      if (!take()) continue;
      failure = run_part(*job, part);
      tell(Done);
    }
  }
};

WorkerPool& WorkerPool::instance() {
  static auto* pool = new WorkerPool;
  return *pool;
}

WorkerPool::WorkerPool() {
  if (sched_getaffinity(0, sizeof(allowed_), &allowed_) != 0) CPU_ZERO(&allowed_);
}

void WorkerPool::have_workers(std::size_t count) {
  try {
    while (workers_.size() < count) {
      auto worker = std::make_unique<Worker>();
      workers_.reserve(workers_.size() + 1);
      std::thread thread([known = worker.get()] { known->work(); });
      worker->thread = thread.native_handle();
      thread.detach();
      workers_.push_back(std::move(worker));
      apart_from_ = -1;
    }
  } catch (const std::exception&) {  // no more threads can be had: those that are there do it
  }
}

// Off the processor of the thread that hands out work. The system may wake a thread where its waker
// runs, and there it would wait until that one has done all the work itself.
void WorkerPool::keep_apart() {
  const int here = sched_getcpu();
  if (here < 0 || here == apart_from_) return;
  cpu_set_t others = allowed_;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (CPU_COUNT(&others) == 0) return;
  for (const auto& worker : workers_)
    pthread_setaffinity_np(worker->thread, sizeof(others), &others);
  apart_from_ = here;
}

void WorkerPool::run(int parts, const std::function<void(int)>& part, Of of) {
  if (parts <= 0) return;
  const auto others = static_cast<std::size_t>(parts - 1);
  have_workers(others);
  const std::size_t offered = std::min(others, workers_.size());
  if (offered > 0) keep_apart();
  for (std::size_t i = 0; i < offered; ++i) {
    Worker& worker = *workers_[i];
    worker.job = &part;
    worker.part = static_cast<int>(i) + 1;
    worker.tell(Worker::Offered);
  }
  std::exception_ptr failure = run_part(part, 0);
  const auto run_here = [&](int number) {
    if (std::exception_ptr late = run_part(part, number)) failure = std::move(late);
  };
  for (int i = static_cast<int>(offered) + 1; i < parts; ++i) run_here(i);
  for (std::size_t i = 0; i < offered; ++i) {
    Worker& worker = *workers_[i];
    const auto is_taken = [&] {
      return worker.state.load(std::memory_order_acquire) != Worker::Offered;
    };
    if (of == Of::Same) stay_awake(is_taken, kLeftToItsThread);
    if (!is_taken() && worker.take()) {
      run_here(worker.part);
      worker.state.store(Worker::Done);
      continue;
    }
    worker.wait_until(Worker::Done);
    if (worker.failure) failure = std::exchange(worker.failure, nullptr);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace relay::interp
