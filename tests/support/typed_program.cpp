#include "tests/support/typed_program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace relay::tests {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kSlice = 50;  // milliseconds

winsize window(int rows, int columns) {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  return size;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

TypedProgram::TypedProgram(const std::vector<std::string>& command, const Settings& settings)
    : patience_(settings.patience),
      screen_(settings.rows > 0 ? settings.rows : 24,
              settings.columns > 0 ? settings.columns : 80) {
  std::vector<std::string> words = command;
  std::vector<std::string> variables;
  const char* const path = std::getenv("PATH");
  if (path) variables.push_back(std::string("PATH=") + path);
  // Long output is to be on the screen, and no pager to wait for keys.
  if (!settings.environment.contains("PAGER")) variables.push_back("PAGER=cat");
  for (const auto& [name, value] : settings.environment) variables.push_back(name + '=' + value);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const winsize size = window(settings.rows, settings.columns);
  process_ = forkpty(&terminal_, nullptr, nullptr, &size);
  if (process_ < 0) throw std::runtime_error("no pseudo-terminal");
  if (process_ == 0) {
    if (!settings.folder.empty() && chdir(settings.folder.c_str()) != 0) _exit(127);
    execve(arguments[0], arguments.data(), environment.data());
    _exit(127);
  }
  fcntl(terminal_, F_SETFL, O_NONBLOCK);
  fcntl(terminal_, F_SETFD, FD_CLOEXEC);
}

TypedProgram::~TypedProgram() {
  if (!status_) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(terminal_);
}

bool TypedProgram::read_some(int milliseconds) {
  pollfd wanted{terminal_, POLLIN, 0};
  if (poll(&wanted, 1, milliseconds) <= 0) return false;
  char buffer[4096];
  const ssize_t count = read(terminal_, buffer, sizeof buffer);
  if (count <= 0) {
    // Nobody has the other side open any more.
    if (milliseconds > 0) usleep(static_cast<useconds_t>(milliseconds) * 1000);
    return false;
  }
  output_.append(buffer, static_cast<std::size_t>(count));
  screen_.feed({buffer, static_cast<std::size_t>(count)});
  return true;
}

void TypedProgram::type(std::string_view keys) {
  const auto end = Clock::now() + patience_;
  while (!keys.empty() && Clock::now() < end) {
    const ssize_t count = write(terminal_, keys.data(), keys.size());
    if (count > 0) {
      keys.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      return;
    }
    // It may wait for its output to be taken before it takes more keys.
    while (read_some(keys.empty() ? 0 : 1)) continue;
  }
}

bool TypedProgram::wait(const std::function<bool(const Screen&)>& is_wanted) {
  return wait(is_wanted, patience_);
}

bool TypedProgram::wait(const std::function<bool(const Screen&)>& is_wanted,
                        std::chrono::milliseconds most) {
  const auto end = Clock::now() + most;
  while (!is_wanted(screen_)) {
    if (Clock::now() > end) return false;
    if (!read_some(kSlice) && has_ended()) return is_wanted(screen_);
  }
  return true;
}

bool TypedProgram::wait_for(std::string_view text) {
  return wait([&](const Screen& screen) { return screen.text().find(text) != std::string::npos; });
}

bool TypedProgram::enter(std::string_view keys, std::string_view prompt) {
  const std::size_t row = screen_.row();
  type(keys);
  const std::string_view shown = prompt.substr(0, prompt.find_last_not_of(' ') + 1);
  return wait([&](const Screen& screen) {
    return screen.row() > row && screen.line() == shown &&
           screen.column() == static_cast<int>(prompt.size());
  });
}

bool TypedProgram::has_ended() {
  int status = 0;
  if (!status_ && waitpid(process_, &status, WNOHANG) == process_) status_ = status;
  return status_.has_value();
}

std::optional<int> TypedProgram::wait_for_end() {
  const auto end = Clock::now() + patience_;
  while (!has_ended() && Clock::now() < end) {
    while (read_some(0)) continue;
    if (!has_ended()) read_some(kSlice);
  }
  while (read_some(0)) continue;
  return status_;
}

void TypedProgram::resize(int rows, int columns) {
  const winsize size = window(rows, columns);
  screen_.resize(rows, columns);
  ioctl(terminal_, TIOCSWINSZ, &size);
}

void TypedProgram::send(int signal) const { kill(process_, signal); }

termios TypedProgram::settings() const {
  termios result{};
  tcgetattr(terminal_, &result);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "relay-test-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string relay_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "relay").string();
}

}  // namespace relay::tests
