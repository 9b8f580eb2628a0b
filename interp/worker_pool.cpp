#include "interp/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace relay::interp {

WorkerPool& WorkerPool::instance() {
  static auto* pool = new WorkerPool;
  return *pool;
}

WorkerPool::WorkerPool() {
  if (sched_getaffinity(0, sizeof(allowed_), &allowed_) != 0) CPU_ZERO(&allowed_);
}

// Off the processor of the thread that hands out work. The system may wake a thread where its waker
// runs, and there it would wait until that one has done all the work itself.
void WorkerPool::keep_apart() {
  const int here = sched_getcpu();
  if (here < 0 || here == apart_from_) return;
  cpu_set_t others = allowed_;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  if (CPU_COUNT(&others) == 0) return;
  for (const pthread_t thread : threads_) pthread_setaffinity_np(thread, sizeof(others), &others);
  apart_from_ = here;
}

// A part for the thread of this number; the one that hands out work has 0.
bool WorkerPool::take(int own, int& part) {
  if (of_ == Of::Any) return take_any(part);
  const auto number = static_cast<std::size_t>(own);
  if (number >= is_taken_.size() || is_taken_[number]) return false;
  is_taken_[number] = true;
  part = own;
  has_parts_.store(--left_ > 0, std::memory_order_relaxed);
  return true;
}

bool WorkerPool::take_any(int& part) {
  const auto first = std::find(is_taken_.begin(), is_taken_.end(), false);
  if (first == is_taken_.end()) return false;
  *first = true;
  part = static_cast<int>(first - is_taken_.begin());
  has_parts_.store(--left_ > 0, std::memory_order_relaxed);
  return true;
}

namespace {

// A little longer than a thread takes to be woken, and a kernel that is worth a second thread.
constexpr std::chrono::microseconds kAwake{50};

// For how long a part is left to its thread: to do it here with the data over there takes longer.
constexpr std::chrono::microseconds kLeftToItsThread{20};

// Looks whether it is so, for a short while.
template <class Condition>
void stay_awake(const Condition& is_so, std::chrono::microseconds most = kAwake) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!is_so() && std::chrono::steady_clock::now() < end) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

// Whoever holds the lock gives it back at once: to sleep for it would take longer than most parts.
void lock_awake(std::unique_lock<std::mutex>& lock) {
  stay_awake([&] { return lock.try_lock(); });
  if (!lock.owns_lock()) lock.lock();
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

void WorkerPool::work(int own) {
  std::unique_lock lock(mutex_);
  for (;;) {
    int part = 0;
    lock.unlock();
    stay_awake([&] { return has_parts_.load(std::memory_order_relaxed); });
    lock_awake(lock);
    wake_.wait(lock, [&] { return take(own, part); });
    const auto* job = part_;
    lock.unlock();
    std::exception_ptr failure = run_part(*job, part);
    lock_awake(lock);
    if (failure) failure_ = std::move(failure);
    if (--unfinished_ == 0) {
      is_done_.store(true, std::memory_order_relaxed);
      done_.notify_one();
    }
  }
}

void WorkerPool::run(int parts, const std::function<void(int)>& part, Of of) {
  if (parts <= 1) {
    if (parts == 1) part(0);
    return;
  }
  std::unique_lock lock(mutex_, std::defer_lock);
  lock_awake(lock);
  try {
    while (static_cast<int>(threads_.size()) < parts - 1) {
      const int own = static_cast<int>(threads_.size()) + 1;
      std::thread thread([this, own] { work(own); });
      threads_.push_back(thread.native_handle());
      thread.detach();
      apart_from_ = -1;
    }
  } catch (const std::exception&) {  // no more threads can be had: those that are there do it
  }
  keep_apart();
  part_ = &part;
  of_ = of;
  is_taken_.assign(static_cast<std::size_t>(parts), false);
  left_ = parts;
  unfinished_ = parts;
  is_done_.store(false, std::memory_order_relaxed);
  has_parts_.store(true, std::memory_order_relaxed);
  wake_.notify_all();
  int mine = 0;
  for (bool has_part = take(0, mine); has_part; has_part = take_any(mine)) {
    lock.unlock();
    std::exception_ptr failure = run_part(part, mine);
    if (of == Of::Same)
      stay_awake([&] { return !has_parts_.load(std::memory_order_relaxed); }, kLeftToItsThread);
    lock_awake(lock);
    if (failure) failure_ = std::move(failure);
    --unfinished_;
  }
  if (unfinished_ > 0) {
    lock.unlock();
    stay_awake([&] { return is_done_.load(std::memory_order_relaxed); });
    lock_awake(lock);
  }
  done_.wait(lock, [&] { return unfinished_ == 0; });
  is_taken_.clear();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace relay::interp
