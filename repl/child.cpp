#include "repl/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "lang/stop.h"
#include "repl/output.h"
#include "repl/signals.h"
#include "repl/terminal.h"
#include "repl/waiting.h"

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

// Whoever has stopped reading is told of by write(), and not by a signal that ends the program.
class PipesMayClose {
 public:
  PipesMayClose() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~PipesMayClose() { std::signal(SIGPIPE, before_); }
  PipesMayClose(const PipesMayClose&) = delete;
  PipesMayClose& operator=(const PipesMayClose&) = delete;

 private:
  void (*const before_)(int);
};

void write_all(int descriptor, std::string_view text) {
  const PipesMayClose quietly;
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
  const Waiting::Silence silence;
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

namespace {

// A text as a file that only descriptors know.
int file_of(std::string_view text) {
  const int file = memfd_create("relay-input", MFD_CLOEXEC);
  if (file < 0) return file;
  write_all(file, text);
  lseek(file, 0, SEEK_SET);
  return file;
}

// All that comes, until there is no more or somebody asks to stop.
std::string read_all(int descriptor) {
  std::string text;
  constexpr int kBetweenLooks = 50;  // milliseconds
  std::array<char, 65536> piece{};
  while (!lang::is_stopping()) {
    pollfd wanted{descriptor, POLLIN, 0};
    if (poll(&wanted, 1, kBetweenLooks) == 0) continue;
    const ssize_t count = read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

ChildOutput output_of(const std::vector<std::string>& command, std::string_view input) {
  const PlainSignals signals;
  Pipe pipe;
  const int file = file_of(input);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, signals.get(), arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe.ends[1]);
  close(file);
  ChildOutput output;
  if (failed == 0) {
    output.is_found = true;
    output.text = read_all(pipe.ends[0]);
    if (lang::is_stopping()) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    output.ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  close(pipe.ends[0]);
  lang::poll();
  return output;
}

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace relay::repl
