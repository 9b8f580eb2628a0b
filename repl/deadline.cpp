#include "repl/deadline.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "lang/diagnostic.h"

namespace relay::repl {

struct Deadline::Watch {
  Watch(double seconds, lang::Stop reason)
      : thread_([this, seconds, reason] { wait(std::chrono::duration<double>(seconds), reason); }) {
  }
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    thread_.join();
  }

 private:
  void wait(std::chrono::duration<double> time, lang::Stop reason) {
    std::unique_lock lock(mutex_);
    if (!over_.wait_for(lock, time, [this] { return is_over_; })) lang::request_stop(reason);
  }

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

Deadline::Deadline(double seconds, lang::Stop reason) {
  if (seconds <= 0) return;
  try {
    watch_ = std::make_unique<Watch>(seconds, reason);
  } catch (const std::system_error& error) {
    lang::fail(lang::DiagnosticKind::OutOfMemory,
               fmt::format("no thread can be made to watch the time: {}", error.what()));
  }
}
Deadline::~Deadline() = default;

}  // namespace relay::repl
