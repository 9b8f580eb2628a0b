#include "plot/contour.h"

#include <array>
#include <cmath>
#include <limits>

#include "lang/stop.h"

namespace relay::plot {

namespace {

struct Crossing {
  double x;
  double y;
};

// Where an edge of a square, from one corner to the next, crosses the level.
double share(double from, double to, double level) {
  const long double whole = static_cast<long double>(to) - from;
  return static_cast<double>((static_cast<long double>(level) - from) / whole);
}

}  // namespace

// Marching squares. A square whose corners are above and below in turn is divided as its middle
// says.
Series contour_line(const Grid& grid, double level) {
  constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
  Series line;
  // The middle of what a cell stands for.
  const auto place = [](double cell, std::int64_t in_cell) {
    return cell * static_cast<double>(in_cell) + static_cast<double>(in_cell - 1) / 2;
  };
  const auto add = [&](const Crossing& from, const Crossing& to) {
    for (const Crossing& each : {from, to}) {
      line.x.push_back(place(each.x, grid.columns_in_cell));
      line.y.push_back(place(each.y, grid.rows_in_cell));
    }
    line.x.push_back(kGap);
    line.y.push_back(kGap);
  };
  for (std::int64_t row = 0; row + 1 < grid.rows; ++row) {
    lang::poll();
    for (std::int64_t column = 0; column + 1 < grid.columns; ++column) {
      // Around the square.
      const std::array<double, 4> corner = {grid.at(row, column), grid.at(row, column + 1),
                                            grid.at(row + 1, column + 1), grid.at(row + 1, column)};
      if (!std::isfinite(corner[0] + corner[1]) || !std::isfinite(corner[2] + corner[3])) continue;
      const std::array<Crossing, 4> at = {
          Crossing{static_cast<double>(column), static_cast<double>(row)},
          Crossing{static_cast<double>(column + 1), static_cast<double>(row)},
          Crossing{static_cast<double>(column + 1), static_cast<double>(row + 1)},
          Crossing{static_cast<double>(column), static_cast<double>(row + 1)}};
      std::array<Crossing, 4> crossings{};
      std::size_t count = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t next = (i + 1) % 4;
        if ((corner[i] >= level) == (corner[next] >= level)) continue;
        const double part = share(corner[i], corner[next], level);
        crossings[count++] = {at[i].x + part * (at[next].x - at[i].x),
                              at[i].y + part * (at[next].y - at[i].y)};
      }
      if (count == 2) add(crossings[0], crossings[1]);
      if (count != 4) continue;
      const double middle = (corner[0] + corner[1]) / 4 + (corner[2] + corner[3]) / 4;
      const bool turns = (middle >= level) == (corner[0] >= level);
      add(crossings[0], crossings[turns ? 1 : 3]);
      add(crossings[2], crossings[turns ? 3 : 1]);
    }
  }
  return line;
}

}  // namespace relay::plot
