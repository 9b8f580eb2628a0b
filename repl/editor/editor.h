#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "repl/editor/buffer.h"
#include "repl/editor/frame.h"
#include "repl/editor/history.h"
#include "repl/editor/keys.h"
#include "repl/editor/menu.h"

namespace relay::repl::editor {

// Keys become an entry. Knows nothing of terminals: what is to be seen is a Scene. The keys are
// listed in docs/prompt.md.
class Editor {
 public:
  struct Asks {
    // Is that an entry that can run? `has_more`: more is being typed at this moment, so that the
    // rest of one with a mistake should be waited for.
    std::function<bool(std::string_view text, bool has_more)> is_complete;
    // Have keys been typed that this editor has not been given yet, or will be within a moment?
    std::function<bool()> has_more_keys;
    Completer complete;  // or nothing
  };
  Editor(Asks asks, History& history)
      : asks_(std::move(asks)), history_(history), menu_(asks_.complete) {}

  enum class Outcome {
    Editing,
    Entry,      // Enter: text() is what to run
    Abandoned,  // Enter on an empty line at the end of what is not complete
    End,        // Ctrl-D with nothing typed
    Redraw,     // Ctrl-L: the screen is to be cleared
  };
  Outcome on_key(const Key& key);
  // Shows candidates for what has just been typed; for when no key waits.
  void suggest();
  // The next entry begins.
  void clear();

  const std::string& text() const { return buffer_.text(); }
  std::size_t cursor() const { return buffer_.cursor(); }
  Scene scene() const;
  // What stays of it on the screen when it has been entered.
  Scene last_scene() const;

 private:
  // What kept its meaning only until the next key of another kind.
  enum class Last { Other, Letter, KillForward, KillBackward, Yank, History };

  Outcome act(const Key& key);
  std::optional<Outcome> search_key(const Key& key);
  Outcome control(char letter);
  Outcome alt(const Key& key);
  void move(const Key& key);
  Outcome enter();
  void tab(bool backwards);
  void kill(std::size_t begin, std::size_t end);
  void yank();
  void yank_other();
  void recall(bool older, bool whole);
  void search(bool again);
  Outcome delete_or_end();

  Asks asks_;
  History& history_;
  KillRing kills_;
  Buffer buffer_;
  Menu menu_;
  Last last_ = Last::Other;
  Last now_ = Last::Other;  // of the key that is being handled

  // Of the walk through the history: where it is, and what it began with.
  std::size_t at_ = 0;
  std::string prefix_;
  std::string draft_;

  // Of Ctrl-R.
  struct Search {
    std::string wanted;
    std::size_t at;
    bool is_found = true;
    std::string before;  // the text when it began
  };
  std::optional<Search> search_;
};

}  // namespace relay::repl::editor
