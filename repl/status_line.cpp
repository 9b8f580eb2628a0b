#include "repl/status_line.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace relay::repl {

namespace {

std::recursive_mutex& status_mutex() {
  static auto* const mutex = new std::recursive_mutex;  // used until the process is gone
  return *mutex;
}
bool is_status_shown = false;

void write_status(const std::string& text) {
  const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
}

}  // namespace

void show_status(const std::string& text) {
  const std::lock_guard lock(status_mutex());
  write_status("\r" + text + "\x1b[K");
  is_status_shown = true;
}

void clear_status() { const StatusHidden cleared; }

StatusHidden::StatusHidden() {
  status_mutex().lock();
  if (std::exchange(is_status_shown, false)) write_status("\r\x1b[K");
}
StatusHidden::~StatusHidden() { status_mutex().unlock(); }

std::string waiting_time(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.0f} h", seconds / kHour);
}

}  // namespace relay::repl
