#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/value.h"
#include "plot/request.h"

// What a plot is, as values: whoever draws it (plot/text.h, plot/drawing.h) only reads this.
namespace relay::plot {

enum class Scale : std::uint8_t { Linear, Log };

// Points in order. A line goes from each to the next; where one of the two numbers is not finite
// is a gap.
struct Series {
  std::string label = {};
  std::vector<double> x;
  std::vector<double> y;
};

// Values in rows; `channels` of them for each cell: 1 a grey or a height, 3 a colour.
struct Grid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t channels = 1;
  std::vector<double> values = {};
  // Of an image: what is black and what is white.
  double low = 0;
  double high = 1;
  // Each cell is the mean of so many rows and columns of the value.
  std::int64_t rows_in_cell = 1;
  std::int64_t columns_in_cell = 1;
  std::int64_t nans = 0;  // of the value
  std::int64_t infinities = 0;
  double at(std::int64_t row, std::int64_t column, std::int64_t channel = 0) const {
    return values[static_cast<std::size_t>((row * columns + column) * channels + channel)];
  }
};

struct Figure {
  Kind kind = Kind::Line;
  std::string title = {};
  Scale x_scale = Scale::Linear;
  Scale y_scale = Scale::Linear;
  std::vector<Series> series = {};      // Line, Scatter; for Contour one for each level, in pieces
  std::vector<double> edges = {};       // Histogram: of the bins, one more than these
  std::vector<double> counts = {};      // and how many are in each
  Grid grid = {};                       // Image, Contour
  std::vector<std::string> notes = {};  // what is to be said beneath, as of gaps
};

// What there is to draw of a value. Throws Failure(BadData), without a place, that says what can be
// drawn; or that of a request to stop. Cost: a few copies of the value, in float64.
Figure figure_of(const lang::Value& value, const Request& request);

}  // namespace relay::plot
