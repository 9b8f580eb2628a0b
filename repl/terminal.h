#pragma once

#include <optional>
#include <string>

namespace relay::repl {

// A line editor on the terminal: emacs keys, persistent history, a prompt that tells continuation
// lines.
class Terminal {
 public:
  Terminal();
  ~Terminal();
  // Nothing at the end of input. Sets `interrupted` when Ctrl-C abandoned the line.
  std::optional<std::string> read_line(bool continuation, bool& interrupted);
  // An entry, all its lines, becomes one history item.
  void remember(const std::string& entry);

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace relay::repl
