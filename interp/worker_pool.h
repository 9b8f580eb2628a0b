#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace relay::interp {

// Threads that wait for work. Only the evaluating thread hands it out.
class WorkerPool {
 public:
  static WorkerPool& instance();  // of the process; never destroyed
  // Of what thread a part is: any, or the one that has had the part of this number last time, in
  // whose cache its data may be. If that one is late, this thread does it.
  enum class Of : std::uint8_t { Any, Same };
  // Calls part(0) ... part(parts - 1), each once, on this and other threads, and returns when all
  // are done; throws then what one of them has thrown.
  void run(int parts, const std::function<void(int)>& part, Of of = Of::Any);

 private:
  WorkerPool();
  void work(int own);
  bool take(int own, int& part);
  bool take_any(int& part);
  void keep_apart();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<pthread_t> threads_;
  cpu_set_t allowed_{};  // processors of this process
  int apart_from_ = -1;  // the processor that they leave alone
  const std::function<void(int)>* part_ = nullptr;
  Of of_ = Of::Any;
  std::vector<bool> is_taken_;  // by part
  int left_ = 0;                // parts that nobody has taken
  int unfinished_ = 0;
  std::atomic<bool> has_parts_{false};  // that nobody has taken
  std::atomic<bool> is_done_{false};
  std::exception_ptr failure_;
};

}  // namespace relay::interp
