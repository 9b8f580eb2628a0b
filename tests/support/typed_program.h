#pragma once

#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/screen.h"

namespace relay::tests {

// A program on a pseudo-terminal of its own: types its keys, and reads its screen. Whatever it
// waits for it waits for as long as a busy machine may take, and returns false then.
class TypedProgram {
 public:
  struct Settings {
    std::map<std::string, std::string> environment = {};  // nothing else is inherited but PATH
    int rows = 24;  // 0 with columns 0: a terminal that does not know its size
    int columns = 80;
    int patience = 60;        // seconds
    std::string folder = {};  // where it is started; empty: here
  };
  TypedProgram(const std::vector<std::string>& command, const Settings& settings);
  ~TypedProgram();  // kills it, if it still runs
  TypedProgram(const TypedProgram&) = delete;
  TypedProgram& operator=(const TypedProgram&) = delete;

  // Bytes as the keys send them.
  void type(std::string_view keys);
  // Until the screen is as wanted.
  bool wait(const std::function<bool(const Screen&)>& is_wanted);
  bool wait(const std::function<bool(const Screen&)>& is_wanted, std::chrono::milliseconds most);
  // Until the text stands on the screen, or did.
  bool wait_for(std::string_view text);
  // Types the keys, and waits until the cursor stands behind `prompt` on a later line.
  bool enter(std::string_view keys, std::string_view prompt = "relay> ");

  bool has_ended();
  // Its end: the status that waitpid() gives. Nothing if it does not end.
  std::optional<int> wait_for_end();

  void resize(int rows, int columns);
  void send(int signal) const;
  // How the terminal is set.
  termios settings() const;
  const Screen& screen() const { return screen_; }
  const std::string& output() const { return output_; }

 private:
  bool read_some(int milliseconds);
  std::chrono::seconds patience_;
  pid_t process_ = -1;
  int terminal_ = -1;
  Screen screen_;
  std::string output_;
  std::optional<int> status_;
};

// A folder that is removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The whole text of a file; empty if there is none.
std::string text_of_file(const std::string& path);

// The program `relay` of this build.
std::string relay_program();

}  // namespace relay::tests
