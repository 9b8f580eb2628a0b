#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace relay::notebook {

// The text that a cell prints. It is handed on as it comes; of very much, what is printed within
// the same half a second waits for what comes later, as each message has its cost, also for who
// shows it.
class Streams {
 public:
  enum class Name { Output, Error };
  using Send = std::function<void(Name, const std::string&)>;
  explicit Streams(Send send) : send_(std::move(send)) {}

  void write(Name name, std::string_view text);
  // To be called before anything else is shown, so that all stands in order.
  void flush();

 private:
  using Clock = std::chrono::steady_clock;
  Send send_;
  Name name_ = Name::Output;
  std::string waiting_;
  Clock::time_point since_ = {};  // of the texts that are counted
  int count_ = 0;
};

}  // namespace relay::notebook
