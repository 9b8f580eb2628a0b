#pragma once

#include <string_view>

#include "repl/editor/keys.h"

namespace relay::repl::editor {

// What happens at a terminal, one thing after the other: keys, and the signals that belong to
// typing (repl/signals.h). Knows nothing of lines.
class KeyInput {
 public:
  explicit KeyInput(int descriptor) : descriptor_(descriptor) {}

  enum class Event {
    Key,          // key() has it
    Resized,      // the window has another size
    Continued,    // the program goes on after Ctrl-Z
    Interrupted,  // Ctrl-C; what was typed before it is gone
    End,          // nobody types any more
  };
  // Waits for the next one.
  Event next();
  const Key& key() const { return key_; }

  // Bytes that somebody else has read come first.
  void put_back(std::string_view bytes);

  // Have more keys been typed already, or come within that time?
  bool is_waiting(int milliseconds) const;

 private:
  int descriptor_;
  KeyDecoder decoder_;
  Key key_;
};

}  // namespace relay::repl::editor
