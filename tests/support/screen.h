#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace relay::tests {

// What a terminal shows: a table of characters, each with its look, and a cursor. Understands
// UTF-8, characters of width 0 and 2, and those control sequences of xterm that move, erase,
// insert, delete and colour.
class Screen {
 public:
  struct Cell {
    std::string text =
        " ";                // a character with what combines with it; empty: the second half of one
    std::string look = {};  // the words for it: `bold`, `underline`, `reverse`, `green`; in order
  };
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
  // The cells of the table that is on the screen now, and the row among them with the cursor.
  const std::vector<std::vector<Cell>>& table() const { return table_; }
  int cursor_row() const { return row_; }
  // Escape sequences so far, and those of them that set colours or other looks.
  int sequences() const { return sequences_; }
  int looks() const { return looks_; }
  int bells() const { return bells_; }

 private:
  using Row = std::vector<Cell>;
  void put(std::string_view character);
  void control(char c);
  void run_sequence(std::string_view sequence);
  void set_looks(std::string_view numbers);
  std::string look() const;
  void new_line();
  Row& current() { return table_[static_cast<std::size_t>(row_)]; }

  int rows_;
  int columns_;
  std::vector<Row> table_;
  std::vector<std::string> above_;
  int row_ = 0;
  int column_ = 0;  // columns_: the next character begins a new line
  bool inserts_ = false;
  // How the next character looks.
  std::array<bool, 5> marks_ = {};  // bold, dim, italic, underline, reverse
  std::string colour_;
  std::string pending_;  // the beginning of a character or sequence
  int sequences_ = 0;
  int looks_ = 0;
  int bells_ = 0;
};

}  // namespace relay::tests
