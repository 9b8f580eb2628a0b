#include "repl/progress.h"

#include <cstdio>

#include <fmt/format.h>

#include "lang/utf8.h"
#include "repl/output.h"

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
    put_error("\r\x1b[K");
    is_shown_ = false;
  } else if (done < whole && now - begin_ >= kBefore && now - shown_ >= kBetween) {
    const double share = static_cast<double>(done) / static_cast<double>(whole);
    put_error(fmt::format("\r{}: {:.0f} %\x1b[K", lang::printable_line(path), 100 * share));
    shown_ = now;
    is_shown_ = true;
  }
  std::fflush(stderr);
}

}  // namespace relay::repl
