#include "repl/output.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "repl/status_line.h"
#include "repl/terminal.h"
#include "repl/tools.h"

namespace relay::repl {

void prepare_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number, which this is. In the direction that is not wanted.
    static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

bool has_cursor(int descriptor) {
  const char* const terminal = std::getenv("TERM");
  return isatty(descriptor) != 0 && terminal && std::string_view(terminal) != "dumb" &&
         *terminal != '\0';
}

TerminalSize window_size(TerminalSize unknown) {
  winsize given{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &given) != 0) return unknown;
  return {given.ws_col > 0 ? given.ws_col : unknown.columns,
          given.ws_row > 0 ? given.ws_row : unknown.rows};
}

TerminalSize terminal_size() {
  constexpr std::size_t kLeastColumns = 20;
  TerminalSize size = window_size({});
  size.columns = std::max(size.columns, kLeastColumns);
  return size;
}

bool wants_color(std::string_view setting, int descriptor) {
  if (setting != "auto") return setting == "always";
  const char* const refused = std::getenv("NO_COLOR");
  return has_cursor(descriptor) && (!refused || *refused == '\0');
}

namespace {

// What to say of a write that failed, and the exit code.
int output_failed() {
  constexpr int kSignalled = 128;
  if (errno == EPIPE) return kSignalled + SIGPIPE;
  put_error(fmt::format("relay: cannot write the output: {}\n", std::strerror(errno)));
  return kProgramError;
}

[[noreturn]] void give_up() {
  const int status = output_failed();
  Terminal::restore();
  std::_Exit(status);
}

}  // namespace

void put_output(std::string_view text) {
  const StatusHidden hidden;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) give_up();
}

void flush_output() {
  const StatusHidden hidden;
  if (std::fflush(stdout) != 0) give_up();
}

void put_live_output(std::string_view text) {
  using Clock = std::chrono::steady_clock;
  constexpr int kMostFlushes = 1000;  // in a second; each takes a microsecond or two
  static Clock::time_point begin;
  static int flushes = 0;
  put_output(text);
  if (const auto now = Clock::now(); now - begin >= std::chrono::seconds(1)) {
    begin = now;
    flushes = 0;
  }
  if (++flushes <= kMostFlushes) flush_output();
}

void put_error(std::string_view text) {
  const StatusHidden hidden;
  const std::size_t ignored = std::fwrite(text.data(), 1, text.size(), stderr);
  static_cast<void>(ignored);
}

int finish_output(int status) {
  if (std::fflush(stdout) != 0) return output_failed();
  // Some file systems say only when a file is closed that it could not be written.
  const int copy = dup(STDOUT_FILENO);
  return copy < 0 || close(copy) == 0 ? status : output_failed();
}

}  // namespace relay::repl
