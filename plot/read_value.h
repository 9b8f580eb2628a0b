#pragma once

#include <string>
#include <vector>

#include "lang/value.h"
#include "plot/figure.h"

// The numbers in a value, as series or as a grid. All throw Failure(BadData), without a place.
namespace relay::plot {

// What cannot be drawn, and a note on what can.
[[noreturn]] void fail_to_draw(const std::string& what);

// Elements in row-major order, a list of numbers in its order.
std::vector<double> numbers_of(const lang::Value& value);

// Does it hold whole numbers only, by its dtype?
bool holds_integers(const lang::Value& value);

// Lines and points: a vector, or the rows of a matrix, against the index; `(xs, ys, ...)` against
// the first; tuples and records of these, whose fields are the labels.
std::vector<Series> series_of(const lang::Value& value);
// The same, but a matrix of two columns is points.
std::vector<Series> points_of(const lang::Value& value);

// A matrix, or a tensor (rows, columns, channels) of 1, 3 or 4 channels, of which the fourth is
// left out. What has more rows or columns than `most` becomes means. Not finite: NaN.
Grid grid_of(const lang::Value& value, std::int64_t most);

}  // namespace relay::plot
