#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace relay::interp {

// Threads that wait for work. Only the evaluating thread hands it out; handing a part over and
// hearing that it is done takes some 0.3 us where the other thread is awake.
class WorkerPool {
 public:
  static WorkerPool& instance();  // of the process; never destroyed
  // Whose part this is where a thread is late: that of this one, once it has nothing else to do, or
  // still the other's for a while, in whose cache the data of its last part may be.
  enum class Of : std::uint8_t { Any, Same };
  // Calls part(0) ... part(parts - 1), each once, part(0) on this thread and each other on a thread
  // of its own, and returns when all are done; throws then what one of them has thrown.
  void run(int parts, const std::function<void(int)>& part, Of of = Of::Any);

 private:
  struct Worker;

  WorkerPool();
  void have_workers(std::size_t count);
  void keep_apart();

  std::vector<std::unique_ptr<Worker>> workers_;
  cpu_set_t allowed_{};  // processors of this process
  int apart_from_ = -1;  // the processor that they leave alone
};

}  // namespace relay::interp
