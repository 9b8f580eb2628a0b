#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "repl/editor/menu.h"

namespace relay::repl {

// What has been typed at a prompt.
struct Typed {
  enum class Kind {
    Entry,        // all its lines, without a line break at its end; perhaps empty
    Interrupted,  // Ctrl-C; with what had been typed
    Abandoned,    // an empty line at the end of an entry that is not complete
    End,          // Ctrl-D, or nobody is there any more
  };
  Kind kind;
  std::string text = {};  // UTF-8
};

// The prompt on the terminal: an editor of entries of several lines (repl/editor), with a history
// that is kept (repl/editor/history.h). There is one at a time. While it lives, what is typed ahead
// is neither echoed nor lost; a signal that ends the program puts the terminal back as it was.
class Terminal {
 public:
  struct Asks {
    // Is that an entry that can run (repl/entry_lines.h)? `has_more`: more is being typed.
    std::function<bool(std::string_view text, bool has_more)> is_complete;
    // What may stand at the cursor; or nothing.
    editor::Completer complete = nullptr;
  };
  // `history`: the path of the file, or empty.
  Terminal(std::string history, bool has_colours, Asks asks);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Ctrl-C gives up the entry (Interrupted) and never stops anything else.
  // `stands_still`: an evaluation is stopped, as the prompt says; Ctrl-C from before it counts.
  Typed read_entry(bool stands_still = false);

  // An entry, all its lines, becomes one item of the history, and is written to its file.
  void remember(const std::string& entry);

  // Does it draw points, as sixel graphics? It is asked once (DA1), at a terminal whose cursor can
  // be moved, and has a fifth of a second to answer; keys that come meanwhile are not lost. While
  // keys wait already it is not asked, and does not.
  static bool draws_points();

  // Puts the terminal back as it was before, as for another program that uses it; read_entry()
  // takes it again. Safe in a signal handler, and without a Terminal.
  static void restore();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::repl
