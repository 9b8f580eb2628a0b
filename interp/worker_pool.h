#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace relay::interp {

// Threads that wait for work. Only the evaluating thread hands it out.
class WorkerPool {
 public:
  static WorkerPool& instance();  // of the process; never destroyed
  // Calls part(0) ... part(parts - 1), each once, on this and other threads, and returns when all
  // are done; throws then what one of them has thrown.
  void run(int parts, const std::function<void(int)>& part);

 private:
  WorkerPool();
  void work();
  bool take(int& part);
  void keep_apart();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<pthread_t> threads_;
  cpu_set_t allowed_{};  // processors of this process
  int apart_from_ = -1;  // the processor that they leave alone
  const std::function<void(int)>* part_ = nullptr;
  int next_ = 0;
  int count_ = 0;
  int unfinished_ = 0;
  std::atomic<bool> has_parts_{false};  // that nobody has taken
  std::atomic<bool> is_done_{false};
  std::exception_ptr failure_;
};

}  // namespace relay::interp
