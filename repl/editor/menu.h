#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/completion/completions.h"
#include "repl/editor/buffer.h"
#include "repl/editor/frame.h"

namespace relay::repl::editor {

// What may stand at a place of a text; never asked for a text that it would change.
using Completer = std::function<Completions(std::string_view text, std::size_t cursor)>;

// The candidates at the cursor. They are shown while a word is typed; Tab writes what all of them
// begin with, and at the next one they take the word's place in turn.
class Menu {
 public:
  explicit Menu(Completer completer) : completer_(std::move(completer)) {}

  // A list that is shown and not asked for.
  void suggest(const Buffer& buffer);
  // Tab, and Shift-Tab. False where there is no candidate.
  bool choose(Buffer& buffer, bool backwards);
  void close();
  bool is_choosing() const { return selected_.has_value(); }
  // Was it asked for, so that it goes on when letters follow?
  bool is_open() const { return is_open_; }

  std::vector<Scene::Note> notes() const;

 private:
  bool ask(const Buffer& buffer);
  void select(Buffer& buffer, std::size_t index);

  Completer completer_;
  Completions found_;
  bool is_open_ = false;
  std::optional<std::size_t> selected_;
};

}  // namespace relay::repl::editor
