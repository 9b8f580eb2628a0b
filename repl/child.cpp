#include "repl/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "repl/output.h"
#include "repl/signals.h"
#include "repl/terminal.h"

extern char** environ;

namespace relay::repl {

namespace {

// While it lives the terminal is as it was before there was a prompt.
class OriginalTerminal {
 public:
  OriginalTerminal() : is_terminal_(tcgetattr(STDIN_FILENO, &settings_) == 0) {
    Terminal::restore();
  }
  ~OriginalTerminal() {
    if (is_terminal_) tcsetattr(STDIN_FILENO, TCSADRAIN, &settings_);
  }
  OriginalTerminal(const OriginalTerminal&) = delete;
  OriginalTerminal& operator=(const OriginalTerminal&) = delete;

 private:
  termios settings_{};
  const bool is_terminal_;
};

// Our threads take no signals, and we ignore some: a child gets all of them as usual.
class PlainSignals {
 public:
  PlainSignals() {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~PlainSignals() { posix_spawnattr_destroy(&attributes_); }
  PlainSignals(const PlainSignals&) = delete;
  PlainSignals& operator=(const PlainSignals&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

// A pipe whose ends no other child gets.
struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  bool is_open = pipe2(ends.data(), O_CLOEXEC) == 0;
};

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // it reads no more, as a pager that was left
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

bool run_on_terminal(const std::string& command, const std::string* input) {
  flush_output();
  const Signals::During its_own(Signals::Meaning::Key);
  const OriginalTerminal terminal;
  const PlainSignals signals;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  Pipe pipe;
  if (input && pipe.is_open) posix_spawn_file_actions_adddup2(&actions, pipe.ends[0], STDIN_FILENO);
  std::string shell = "sh";
  std::string option = "-c";
  std::string line = command;
  std::array<char*, 4> arguments = {shell.data(), option.data(), line.data(), nullptr};
  pid_t child = -1;
  const int failed =
      posix_spawn(&child, "/bin/sh", &actions, signals.get(), arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe.ends[0]);
  if (failed == 0 && input) write_all(pipe.ends[1], *input);
  close(pipe.ends[1]);
  int status = 0;
  while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return failed == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace relay::repl
