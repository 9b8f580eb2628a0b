#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace relay::plot {

// A table of characters in which dots are set, several in each where the characters allow it.
class Canvas {
 public:
  enum class Dots {
    Braille,  // 2 by 4 in a character
    Halves,   // 1 by 2, in ASCII
    Marks,    // one, with the mark of its series
  };
  Canvas(std::size_t columns, std::size_t rows, Dots dots);

  // Places are from 0 to 1, rightwards and upwards. A line to or from NaN is none. The last series
  // at a place is seen.
  void point(double x, double y, std::size_t series);
  void line(double from_x, double from_y, double to_x, double to_y, std::size_t series);

  // What stands in a cell, the uppermost row being 0: a character of UTF-8, and the series that it
  // belongs to. Nothing: a blank.
  std::string_view text(std::size_t column, std::size_t row) const;
  std::size_t series(std::size_t column, std::size_t row) const { return at(column, row).series; }

  // What a series is marked with where dots cannot tell it from others.
  static std::string_view mark(std::size_t series);

 private:
  struct Cell {
    unsigned char dots = 0;
    std::size_t series = 0;
  };
  const Cell& at(std::size_t column, std::size_t row) const {
    return cells_[row * columns_ + column];
  }
  void set(std::size_t x, std::size_t y, std::size_t series);

  std::size_t columns_;
  std::size_t rows_;
  Dots dots_;
  std::size_t across_;  // dots in a cell
  std::size_t down_;
  std::vector<Cell> cells_;
};

}  // namespace relay::plot
