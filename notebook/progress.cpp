#include "notebook/progress.h"

namespace relay::notebook {

void Progress::begin(Clock::time_point now) {
  shown_ = now;
  is_shown_ = false;
}

void Progress::tell(const std::string& text, Clock::time_point now) {
  constexpr auto kBefore = std::chrono::seconds(1);
  constexpr auto kBetween = std::chrono::milliseconds(300);
  if (is_shown_ ? now - shown_ < kBetween : now - shown_ < kBefore) return;
  show_(text, !is_shown_);
  shown_ = now;
  is_shown_ = true;
}

void Progress::end() {
  if (is_shown_) show_("", false);
  is_shown_ = false;
}

}  // namespace relay::notebook
