#include "repl/terminal_answer.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>

namespace relay::repl {

namespace {

// While it lives what is typed comes byte by byte, and is not shown.
class Unechoed {
 public:
  Unechoed() : is_set_(tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios wanted = before_;
    wanted.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    wanted.c_cc[VMIN] = 1;
    wanted.c_cc[VTIME] = 0;
    if (is_set_) tcsetattr(STDIN_FILENO, TCSANOW, &wanted);
  }
  ~Unechoed() {
    if (is_set_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Unechoed(const Unechoed&) = delete;
  Unechoed& operator=(const Unechoed&) = delete;

 private:
  termios before_{};
  const bool is_set_;
};

bool comes_within(std::chrono::milliseconds time) {
  pollfd wanted{STDIN_FILENO, POLLIN, 0};
  return poll(&wanted, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace

TerminalAnswer ask_terminal(std::string_view question, std::string_view begin, char end,
                            std::string& others) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  if (comes_within(milliseconds(0))) return {};
  const Unechoed unechoed;
  if (write(STDOUT_FILENO, question.data(), question.size()) !=
      static_cast<ssize_t>(question.size()))
    return {};
  constexpr milliseconds kPatience(200);
  const auto until = Clock::now() + kPatience;
  std::string bytes;
  while (Clock::now() < until) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    char byte = 0;
    if (!comes_within(left) || read(STDIN_FILENO, &byte, 1) != 1) break;
    bytes += byte;
    const std::size_t at = bytes.find(begin);
    if (byte != end || at == std::string::npos) continue;
    others += bytes.substr(0, at);
    return {true, bytes.substr(at + begin.size(), bytes.size() - at - begin.size() - 1)};
  }
  others += bytes;
  return {true};
}

}  // namespace relay::repl
