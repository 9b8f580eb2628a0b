#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::tests {

// What a terminal shows: a table of characters, and a cursor. Understands UTF-8, characters of
// width 0 and 2, and those control sequences of xterm that move, erase, insert and delete; it
// counts those that colour.
class Screen {
 public:
  Screen(int rows, int columns);

  // Bytes may end anywhere, also within a character or sequence.
  void feed(std::string_view bytes);
  void resize(int rows, int columns);

  // All lines from the first one ever written on, those that have left the screen included, without
  // the blanks at their ends.
  std::vector<std::string> lines() const;
  // The same as one text, without the empty lines at its end.
  std::string text() const;
  // The line with the cursor, and its number among lines().
  std::string line() const;
  std::size_t row() const { return above_.size() + static_cast<std::size_t>(row_); }
  int column() const { return column_; }
  // Escape sequences so far, and those of them that set colours or other looks.
  int sequences() const { return sequences_; }
  int looks() const { return looks_; }
  int bells() const { return bells_; }

 private:
  using Row = std::vector<std::string>;  // a cell: its character with what combines with it
  void put(std::string_view character);
  void control(char c);
  void run_sequence(std::string_view sequence);
  void new_line();
  Row& current() { return table_[static_cast<std::size_t>(row_)]; }

  int rows_;
  int columns_;
  std::vector<Row> table_;
  std::vector<std::string> above_;
  int row_ = 0;
  int column_ = 0;  // columns_: the next character begins a new line
  bool inserts_ = false;
  std::string pending_;  // the beginning of a character or sequence
  int sequences_ = 0;
  int looks_ = 0;
  int bells_ = 0;
};

}  // namespace relay::tests
