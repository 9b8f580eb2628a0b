#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace relay::repl {

// A line on the terminal that says how far a file is, and how long the rest takes, from a second
// after its beginning on, and is gone at its end.
class ProgressLine {
 public:
  // `waits`: at the prompt, where a line may say how long something has been running
  // (repl/waiting.h).
  explicit ProgressLine(bool waits) : waits_(waits) {}
  void operator()(const std::string& path, std::int64_t done, std::int64_t whole);

 private:
  using Clock = std::chrono::steady_clock;
  bool waits_;
  std::string path_;
  std::int64_t done_ = 0;
  Clock::time_point begin_;
  Clock::time_point shown_;
  bool is_shown_ = false;
};

}  // namespace relay::repl
