#pragma once

#include <deque>
#include <optional>
#include <string>

namespace relay::repl::editor {

struct Key {
  enum class Code {
    Letter,  // `text` is one character of UTF-8
    Paste,   // `text` is all that was pasted
    Enter,
    Tab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
  };
  Code code = Code::Letter;
  std::string text = {};
  bool shift = false;  // of keys that are no letters
  bool alt = false;
  bool control = false;

  friend bool operator==(const Key&, const Key&) = default;
};

// Bytes as a terminal sends them become keys. Knows the sequences of xterm and its kin, the
// console, rxvt and screen; others of their shape (ECMA-48, 5.4) are dropped whole. ESC before a
// key is Alt. A text between the marks of bracketed paste is one key. Bytes that are no UTF-8 are
// U+FFFD; invisible control characters are no keys.
class KeyDecoder {
 public:
  void feed(char byte);
  // The next key, if it is there.
  std::optional<Key> next();
  // Is a key begun and not ended?
  bool is_inside() const { return !pending_.empty() || alt_ || is_pasting_; }
  // Forgets what is begun.
  void reset();

 private:
  void begin(char byte);
  void put(Key key);
  void put_sequence();
  void paste(char byte);

  std::deque<Key> ready_;
  std::string pending_;  // of a sequence or character
  std::string pasted_;
  bool alt_ = false;
  bool is_pasting_ = false;
};

}  // namespace relay::repl::editor
