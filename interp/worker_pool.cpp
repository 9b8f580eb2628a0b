#include "interp/worker_pool.h"

#include <exception>
#include <utility>

namespace relay::interp {

WorkerPool& WorkerPool::instance() {
  static auto* pool = new WorkerPool;
  return *pool;
}

bool WorkerPool::take(int& part) {
  if (next_ >= count_) return false;
  part = next_++;
  return true;
}

namespace {

std::exception_ptr run_part(const std::function<void(int)>& job, int part) {
  try {
    job(part);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    int part = 0;
    wake_.wait(lock, [&] { return take(part); });
    const auto* job = part_;
    lock.unlock();
    std::exception_ptr failure = run_part(*job, part);
    lock.lock();
    if (failure) failure_ = std::move(failure);
    if (--unfinished_ == 0) done_.notify_one();
  }
}

void WorkerPool::run(int parts, const std::function<void(int)>& part) {
  if (parts <= 1) {
    if (parts == 1) part(0);
    return;
  }
  std::unique_lock lock(mutex_);
  try {
    while (static_cast<int>(threads_.size()) < parts - 1) {
      threads_.emplace_back([this] { work(); });
      threads_.back().detach();
    }
  } catch (const std::exception&) {  // no more threads can be had: those that are there do it
  }
  part_ = &part;
  next_ = 0;
  count_ = parts;
  unfinished_ = parts;
  wake_.notify_all();
  int mine = 0;
  while (take(mine)) {
    lock.unlock();
    std::exception_ptr failure = run_part(part, mine);
    lock.lock();
    if (failure) failure_ = std::move(failure);
    --unfinished_;
  }
  done_.wait(lock, [&] { return unfinished_ == 0; });
  count_ = 0;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace relay::interp
