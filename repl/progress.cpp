#include "repl/progress.h"

#include <fmt/format.h>

#include "lang/utf8.h"
#include "repl/status_line.h"
#include "repl/waiting.h"

namespace relay::repl {

void ProgressLine::operator()(const std::string& path, std::int64_t done, std::int64_t whole) {
  constexpr auto kBefore = std::chrono::seconds(1);
  constexpr auto kBetween = std::chrono::milliseconds(100);
  const auto now = Clock::now();
  if (path != path_ || (done < done_ && done < whole)) {
    path_ = path;
    begin_ = shown_ = now;
  }
  done_ = done < whole ? done : 0;
  if (done >= whole && is_shown_) {
    clear_status();
    is_shown_ = false;
  } else if (done < whole && now - begin_ >= kBefore && now - shown_ >= kBetween) {
    const double share = static_cast<double>(done) / static_cast<double>(whole);
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    std::string text = fmt::format("{}: {:.0f} %", lang::printable_line(path), 100 * share);
    if (share > 0)
      text += fmt::format(", about {} left", waiting_time(seconds * (1 - share) / share));
    if (waits_) Waiting::hush();
    show_status(text);
    shown_ = now;
    is_shown_ = true;
  }
}

}  // namespace relay::repl
