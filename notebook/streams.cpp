#include "notebook/streams.h"

namespace relay::notebook {

void Streams::write(Name name, std::string_view text) {
  constexpr int kAtOnce = 50;
  constexpr auto kSpan = std::chrono::milliseconds(500);
  constexpr std::size_t kMostBytes = 1 << 20;
  if (text.empty()) return;
  if (name != name_) flush();
  name_ = name;
  waiting_ += text;
  const auto now = Clock::now();
  if (now - since_ >= kSpan) {
    since_ = now;
    count_ = 0;
  }
  if (++count_ <= kAtOnce || waiting_.size() >= kMostBytes) flush();
}

void Streams::flush() {
  if (waiting_.empty()) return;
  const std::string text = std::move(waiting_);
  waiting_.clear();
  send_(name_, text);
}

}  // namespace relay::notebook
