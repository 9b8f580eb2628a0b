#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relay::repl::editor {

// What has been cut, newest first; it outlives the entry.
class KillRing {
 public:
  void add(std::string text);
  // Joins what is cut by keys that follow one another.
  void extend(std::string_view text, bool in_front);
  bool is_empty() const { return kills_.empty(); }
  const std::string& newest() const { return kills_.front(); }
  void rotate();

 private:
  std::vector<std::string> kills_;
};

// A text of several lines with a cursor, and what was there before its changes. The cursor stands
// between characters; what combines with a character belongs to it (repl/editor/width.h).
class Buffer {
 public:
  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }
  bool is_empty() const { return text_.empty(); }

  // Another text, with the cursor at its end. One change; without a `record` none that is undone.
  void set(std::string text, bool record = true);
  void set_cursor(std::size_t cursor) {
    cursor_ = cursor;
    run_end_ = 0;
  }
  // Nothing, and nothing to undo.
  void clear();

  // `is_typed`: a letter, which joins those typed right before it.
  void insert(std::string_view text, bool is_typed = false);
  // What stands there instead of the bytes [begin, end); the cursor is behind it.
  void replace(std::size_t begin, std::size_t end, std::string_view text);
  // Takes out [begin, end), and returns it.
  std::string cut(std::size_t begin, std::size_t end);
  // The characters before the cursor and behind it change places.
  void transpose();
  // The last change is taken back; letters typed one after the other are one, until the run ends.
  bool undo();
  void end_run() { run_end_ = 0; }

  // Places: where the keys that move would go.
  std::size_t left() const;
  std::size_t right() const;
  std::size_t word_left() const;  // words are of letters, digits and `_`
  std::size_t word_right() const;
  std::size_t blank_left() const;  // words end at blanks
  std::size_t line_begin() const;
  std::size_t line_end() const;
  bool is_on_first_line() const;
  bool is_on_last_line() const;
  // Moves a line up or down, to the same column or the line's end. Not where there is none.
  void move_up();
  void move_down();

 private:
  struct State {
    std::string text;
    std::size_t cursor;
  };
  void record(bool is_letter = false);
  void move_to_line(std::size_t begin, int column);

  std::string text_;
  std::size_t cursor_ = 0;
  std::vector<State> before_;
  std::size_t run_end_ = 0;  // where letters typed one after the other end; 0: none
};

}  // namespace relay::repl::editor
