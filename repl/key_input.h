#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace relay::repl {

// Keys from a terminal in raw mode, one character after the other, with the signals that belong to
// typing (repl/signals.h). Knows nothing of lines.
class KeyInput {
 public:
  enum class Stop { None, Interrupted, End };
  enum class Change { Resized, Continued };  // the window; the program, after Ctrl-Z

  // Of the sequences that keys such as arrows send (`ESC [ … letter`, `ESC O letter`) those for
  // which `is_bound` are handed on; the others are dropped whole, and do not end up as letters.
  KeyInput(int descriptor, std::function<bool(std::string_view)> is_bound,
           std::function<void(Change)> on_change);

  // The next character, in the encoding of the locale (LC_CTYPE); bytes that are none in it give
  // U+FFFD. Nothing at a Stop, which why() then names.
  std::optional<wchar_t> next();
  Stop why() const { return stop_; }

 private:
  std::optional<char> byte();
  std::optional<wchar_t> character(char first);
  void read_sequence();

  int descriptor_;
  std::function<bool(std::string_view)> is_bound_;
  std::function<void(Change)> on_change_;
  std::deque<wchar_t> ready_;
  std::optional<char> pushed_back_;
  Stop stop_ = Stop::None;
};

}  // namespace relay::repl
