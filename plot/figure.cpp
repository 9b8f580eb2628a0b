#include "plot/figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plot/axis.h"
#include "plot/contour.h"
#include "plot/histogram.h"
#include "plot/read_value.h"

namespace relay::plot {

using lang::Value;

namespace {

constexpr std::int64_t kMostCells = 1024;        // of an image, in a row or a column
constexpr std::int64_t kMostContourCells = 256;  // the same of a contour plot

Kind suggested_kind(const Value& value) {
  return value.is_tensor() && value.as_tensor().rank() >= 2 ? Kind::Image : Kind::Line;
}

// What has no place in the plot.
struct LeftOut {
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  std::int64_t not_above_zero = 0;
  void count(double number, Scale scale) {
    if (std::isnan(number)) {
      ++nans;
    } else if (std::isinf(number)) {
      ++infinities;
    } else if (scale == Scale::Log && number <= 0) {
      ++not_above_zero;
    }
  }
};

void note_left_out(const LeftOut& out, bool are_gaps, Figure& figure) {
  std::string gaps;
  if (out.nans > 0) gaps = fmt::format("{} NaN", out.nans);
  if (out.infinities > 0)
    gaps += fmt::format("{}{} Inf", gaps.empty() ? "" : " and ", out.infinities);
  if (!gaps.empty()) {
    const bool is_one = out.nans + out.infinities == 1;
    const std::string_view verb = !are_gaps ? (is_one ? "is not counted" : "are not counted")
                                  : is_one  ? "is a gap"
                                            : "are gaps";
    figure.notes.push_back(fmt::format("{} {}", gaps, verb));
  }
  if (out.not_above_zero > 0) {
    figure.notes.push_back(fmt::format(
        "{} that {} not above 0 {} no place on a logarithmic axis",
        out.not_above_zero == 1 ? "1 number" : fmt::format("{} numbers", out.not_above_zero),
        out.not_above_zero == 1 ? "is" : "are", out.not_above_zero == 1 ? "has" : "have"));
  }
}

void draw_series(const Value& value, Figure& figure) {
  figure.series = figure.kind == Kind::Scatter ? points_of(value) : series_of(value);
  LeftOut out;
  std::size_t points = 0;
  for (const Series& each : figure.series) {
    points += each.x.size();
    for (const double x : each.x) out.count(x, figure.x_scale);
    for (const double y : each.y) out.count(y, figure.y_scale);
  }
  if (points == 0) figure.notes.emplace_back("there are no elements");
  note_left_out(out, true, figure);
}

void draw_histogram(const Value& value, const Request& request, Figure& figure) {
  std::vector<double> numbers = numbers_of(value);
  LeftOut out;
  for (const double number : numbers) out.count(number, figure.x_scale);
  std::erase_if(numbers, [&](double number) {
    return !std::isfinite(number) || (figure.x_scale == Scale::Log && number <= 0);
  });
  if (numbers.empty()) figure.notes.emplace_back("there are no numbers to count");
  count_in_bins(numbers, request.bins, holds_integers(value), figure);
  note_left_out(out, false, figure);
}

void note_grid(const Grid& grid, Figure& figure) {
  if (grid.rows * grid.columns == 0) figure.notes.emplace_back("there are no elements");
  if (grid.rows_in_cell * grid.columns_in_cell > 1) {
    figure.notes.push_back(fmt::format("each point is the mean of up to {} x {} elements",
                                       grid.rows_in_cell, grid.columns_in_cell));
  }
  note_left_out({grid.nans, grid.infinities, 0}, true, figure);
}

// Bytes are from 0 to 255, and floats of colours from 0 to 1 where all of them are; other numbers
// from the least to the greatest.
void draw_image(const Value& value, Figure& figure) {
  figure.grid = grid_of(value, kMostCells);
  Grid& grid = figure.grid;
  const lang::DType dtype = value.as_tensor().dtype();
  Range range;
  for (const double number : grid.values) range.add(number, Scale::Linear);
  grid.low = range.low;
  grid.high = range.high;
  const bool is_share = range.low >= 0 && range.high <= 1;
  const bool is_stretched = !(grid.channels == 3 && is_share && lang::is_float(dtype)) &&
                            dtype != lang::DType::UInt8 && dtype != lang::DType::Bool;
  if (!is_stretched) {
    constexpr double kWhite = 255;
    grid.low = 0;
    grid.high = dtype == lang::DType::UInt8 ? kWhite : 1;
  } else if (!range.is_empty) {
    figure.notes.push_back(fmt::format("black is {:.4g}, white is {:.4g}", range.low, range.high));
  }
  note_grid(grid, figure);
}

void draw_contours(const Value& value, const Request& request, Figure& figure) {
  figure.grid = grid_of(value, kMostContourCells);
  const Grid& grid = figure.grid;
  if (grid.channels != 1) fail_to_draw("contours are those of a matrix");
  Range range;
  for (const double number : grid.values) range.add(number, Scale::Linear);
  if (!range.is_empty && range.high > range.low) {
    constexpr int kUsual = 7;
    const Axis levels(range, Scale::Linear, static_cast<int>(request.levels.value_or(kUsual)),
                      Axis::Ends::Exact);
    for (const Tick& level : levels.ticks()) {
      Series line = contour_line(grid, level.value);
      line.label = level.label;
      if (!line.x.empty()) figure.series.push_back(std::move(line));
    }
  }
  if (figure.series.empty() && !grid.values.empty())
    figure.notes.emplace_back("no level lies between the elements");
  note_grid(grid, figure);
}

}  // namespace

Figure figure_of(const Value& value, const Request& request) {
  Figure figure;
  figure.kind = request.kind.value_or(suggested_kind(value));
  figure.title = request.title;
  figure.x_scale = request.has_log_x ? Scale::Log : Scale::Linear;
  figure.y_scale = request.has_log_y ? Scale::Log : Scale::Linear;
  const bool has_log = request.has_log_x || request.has_log_y;
  if (has_log && (figure.kind == Kind::Image || figure.kind == Kind::Contour)) {
    lang::fail(lang::DiagnosticKind::BadData,
               fmt::format("the axes of {} count rows and columns, and are not logarithmic",
                           figure.kind == Kind::Image ? "an image" : "a contour plot"));
  }
  switch (figure.kind) {
    case Kind::Line:
    case Kind::Scatter:
      draw_series(value, figure);
      break;
    case Kind::Histogram:
      draw_histogram(value, request, figure);
      break;
    case Kind::Image:
      draw_image(value, figure);
      break;
    case Kind::Contour:
      draw_contours(value, request, figure);
      break;
  }
  return figure;
}

}  // namespace relay::plot
