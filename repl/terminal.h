#pragma once

#include <memory>
#include <string>

namespace relay::repl {

struct Line {
  enum class Kind { Text, Interrupted, End };
  Kind kind;
  std::string text = {};  // UTF-8, without the line break at its end
};

// A line editor on the terminal: emacs keys, a history that is kept (repl/history.h), a prompt that
// tells continuation lines. There is one at a time. While it lives, what is typed ahead is neither
// echoed nor lost; a signal that ends the program puts the terminal back as it was.
class Terminal {
 public:
  // `history`: the path of the file, or empty.
  explicit Terminal(std::string history);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Ctrl-C gives up the line (Interrupted) and never stops anything else.
  Line read_line(bool continuation);

  // Are there keys that have not been read, as of a text that is pasted?
  static bool has_waiting_keys();

  // An entry, all its lines, becomes one item of the history, and is written to its file.
  void remember(const std::string& entry);

  // Puts the terminal back as it was before; safe in a signal handler, and without a Terminal.
  static void restore();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::repl
