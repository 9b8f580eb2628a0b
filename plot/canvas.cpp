#include "plot/canvas.h"

#include <array>
#include <cmath>
#include <string>

namespace relay::plot {

namespace {

// All characters of Braille, by their dots in the order of Unicode.
std::array<std::string, 256> braille_characters() {
  std::array<std::string, 256> characters;
  for (unsigned dots = 0; dots < characters.size(); ++dots) {
    constexpr unsigned kFirst = 0x2800;
    const unsigned code = kFirst + dots;
    constexpr unsigned kLast6 = 0x3f;
    characters[dots] = {static_cast<char>(0xe0U | (code >> 12U)),
                        static_cast<char>(0x80U | ((code >> 6U) & kLast6)),
                        static_cast<char>(0x80U | (code & kLast6))};
  }
  return characters;
}

// The bit of a dot, by row and column in its cell: the two of the last row were added later.
constexpr unsigned char kBrailleBit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
constexpr std::string_view kHalves[4] = {" ", "'", ".", ":"};
constexpr std::string_view kMarks = "*+ox#%@&=~";

std::size_t nearest(double position, std::size_t count) {
  return static_cast<std::size_t>(std::lround(position * static_cast<double>(count - 1)));
}

}  // namespace

Canvas::Canvas(std::size_t columns, std::size_t rows, Dots dots)
    : columns_(columns),
      rows_(rows),
      dots_(dots),
      across_(dots == Dots::Braille ? 2 : 1),
      down_(dots == Dots::Braille  ? 4
            : dots == Dots::Halves ? 2
                                   : 1),
      cells_(columns * rows) {}

void Canvas::set(std::size_t x, std::size_t y, std::size_t series) {
  Cell& cell = cells_[y / down_ * columns_ + x / across_];
  cell.dots = static_cast<unsigned char>(
      cell.dots |
      (dots_ == Dots::Braille ? kBrailleBit[y % down_][x % across_] : 1U << (y % down_)));
  cell.series = series;
}

void Canvas::point(double x, double y, std::size_t series) {
  if (std::isnan(x) || std::isnan(y)) return;
  set(nearest(x, columns_ * across_), nearest(1 - y, rows_ * down_), series);
}

void Canvas::line(double from_x, double from_y, double to_x, double to_y, std::size_t series) {
  if (std::isnan(from_x + from_y) || std::isnan(to_x + to_y)) return;
  const double dots = std::max(std::abs(to_x - from_x) * static_cast<double>(columns_ * across_),
                               std::abs(to_y - from_y) * static_cast<double>(rows_ * down_));
  const auto steps = static_cast<std::size_t>(std::ceil(dots)) + 1;
  for (std::size_t i = 0; i <= steps; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(steps);
    point(from_x + part * (to_x - from_x), from_y + part * (to_y - from_y), series);
  }
}

std::string_view Canvas::text(std::size_t column, std::size_t row) const {
  static const std::array<std::string, 256> braille = braille_characters();
  const Cell& cell = at(column, row);
  if (cell.dots == 0) return " ";
  switch (dots_) {
    case Dots::Braille:
      return braille[cell.dots];
    case Dots::Halves:
      return kHalves[cell.dots];
    case Dots::Marks:
      break;
  }
  return mark(cell.series);
}

std::string_view Canvas::mark(std::size_t series) {
  return kMarks.substr(series % kMarks.size(), 1);
}

}  // namespace relay::plot
