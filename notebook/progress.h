#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace relay::notebook {

// How far something is that takes long, in one place of the output that changes. What is done
// within a second needs no word.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  // `is_new`: the place is to be made.
  using Show = std::function<void(const std::string& text, bool is_new)>;
  explicit Progress(Show show) : show_(std::move(show)) {}

  void begin(Clock::time_point now = Clock::now());
  void tell(const std::string& text, Clock::time_point now = Clock::now());
  // Empties the place, if there is one.
  void end();

 private:
  Show show_;
  Clock::time_point shown_ = {};
  bool is_shown_ = false;
};

}  // namespace relay::notebook
