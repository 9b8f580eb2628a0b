#include "interp/deal.h"

#include <atomic>

#include "interp/worker_pool.h"
#include "lang/stop.h"

namespace relay::interp {

void deal(int threads, std::int64_t count, const std::function<bool(int, std::int64_t)>& piece) {
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> stops = false;  // nothing else ends a piece early
  const auto work = [&](int thread) {
    for (std::int64_t i = next++; i < count && !stops; i = next++) {
      if (!piece(thread, i)) stops = true;
    }
  };
  if (threads == 1) {
    work(0);
  } else {
    WorkerPool::instance().run(threads, std::cref(work));
  }
  if (!stops) return;
  RELAY_CHECK(lang::is_stopping(), "a launch of a band ends early only where it is told to");
  lang::fail_stopped();
}

}  // namespace relay::interp
