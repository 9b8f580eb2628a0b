#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace relay::repl {

// A line on the terminal that says how far a file is, from a second after its beginning on, and is
// gone at its end.
class ProgressLine {
 public:
  void operator()(const std::string& path, std::int64_t done, std::int64_t whole);

 private:
  using Clock = std::chrono::steady_clock;
  std::string path_;
  std::int64_t done_ = 0;
  Clock::time_point begin_;
  Clock::time_point shown_;
  bool is_shown_ = false;
};

}  // namespace relay::repl
