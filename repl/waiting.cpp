#include "repl/waiting.h"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "repl/status_line.h"

namespace relay::repl {

namespace {

using Moment = std::chrono::steady_clock::time_point;

double seconds_between(Moment from, Moment to) {
  return std::chrono::duration<double>(to - from).count();
}

// What the thread that watches knows.
class Watch {
 public:
  // Never taken down: its thread waits until the process is gone.
  static Watch& instance() {
    static auto* const watch = new Watch;
    return *watch;
  }

  void begin() {
    const std::lock_guard lock(mutex_);
    start_clock();
    is_running_ = true;
    changed_.notify_one();
  }
  void end() {
    {
      const std::lock_guard lock(mutex_);
      is_running_ = false;
      changed_.notify_one();
    }
    clear_status();
  }
  void expect(double seconds) {
    const std::lock_guard lock(mutex_);
    expected_ = seconds > 0 ? std::chrono::steady_clock::now() +
                                  std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                      std::chrono::duration<double>(seconds))
                            : Moment();
  }
  void hush(std::chrono::milliseconds time) {
    const std::lock_guard lock(mutex_);
    quiet_until_ = std::chrono::steady_clock::now() + time;
  }
  void silence(int change) {
    const std::lock_guard lock(mutex_);
    silences_ += change;
    if (silences_ == 0) start_clock();
  }

 private:
  Watch() {
    std::thread([this] { watch(); }).detach();
  }

  void start_clock() {
    begun_ = std::chrono::steady_clock::now();
    quiet_until_ = begun_ + std::chrono::seconds(1);
    expected_ = {};
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return is_running_; });
      constexpr std::chrono::milliseconds kBetween(500);
      if (changed_.wait_for(lock, kBetween, [&] { return !is_running_; })) continue;
      const Moment now = std::chrono::steady_clock::now();
      if (silences_ > 0 || now < quiet_until_) continue;
      std::string text =
          fmt::format("running for {}", waiting_time(std::floor(seconds_between(begun_, now))));
      if (expected_ > now)
        text += fmt::format(", about {} left", waiting_time(seconds_between(now, expected_)));
      show_status(text + " (Ctrl-C stops it)");
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_running_ = false;
  int silences_ = 0;
  Moment begun_;
  Moment quiet_until_;
  Moment expected_;  // when it ends; the beginning of the clock: nobody knows
};

}  // namespace

Waiting::Waiting(bool has_terminal) : is_on_(has_terminal) {
  if (is_on_) Watch::instance().begin();
}
Waiting::~Waiting() {
  if (is_on_) Watch::instance().end();
}
void Waiting::expect(double seconds) { Watch::instance().expect(seconds); }
void Waiting::hush() {
  constexpr std::chrono::milliseconds kTime(1500);
  Watch::instance().hush(kTime);
}
Waiting::Silence::Silence() { Watch::instance().silence(1); }
Waiting::Silence::~Silence() { Watch::instance().silence(-1); }

}  // namespace relay::repl
