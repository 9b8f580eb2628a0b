#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
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
  void work();
  bool take(int& part);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  const std::function<void(int)>* part_ = nullptr;
  int next_ = 0;
  int count_ = 0;
  int unfinished_ = 0;
  std::exception_ptr failure_;
};

}  // namespace relay::interp
