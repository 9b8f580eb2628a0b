#include "plot/axes.h"

namespace relay::plot {

namespace {

// Of elements that are each one wide, and shown as so many.
Range cells(std::int64_t count, std::int64_t in_cell) {
  Range range;
  range.add(-0.5, Scale::Linear);
  range.add(static_cast<double>(count * in_cell) - 0.5, Scale::Linear);
  return range;
}

Axes series_axes(const Figure& figure, int most_across, int most_up) {
  Range x;
  Range y;
  for (const Series& each : figure.series) {
    for (const double number : each.x) x.add(number, figure.x_scale);
    for (const double number : each.y) y.add(number, figure.y_scale);
  }
  return {Axis(x, figure.x_scale, most_across), Axis(y, figure.y_scale, most_up)};
}

Axes histogram_axes(const Figure& figure, int most_across, int most_up) {
  Range x;
  Range y;
  for (const double edge : figure.edges) x.add(edge, figure.x_scale);
  // Bars begin at 0, which a logarithmic axis has no place for.
  y.add(figure.y_scale == Scale::Log ? 1 : 0, figure.y_scale);
  for (const double count : figure.counts) y.add(count, figure.y_scale);
  return {Axis(x, figure.x_scale, most_across, Axis::Ends::Exact),
          Axis(y, figure.y_scale, most_up)};
}

Axes grid_axes(const Figure& figure, int most_across, int most_up) {
  const Grid& grid = figure.grid;
  if (figure.kind == Kind::Contour) {
    Range x;
    Range y;
    x.add(0, Scale::Linear);
    x.add(static_cast<double>(grid.columns * grid.columns_in_cell - 1), Scale::Linear);
    y.add(0, Scale::Linear);
    y.add(static_cast<double>(grid.rows * grid.rows_in_cell - 1), Scale::Linear);
    return {Axis(x, Scale::Linear, most_across, Axis::Ends::Whole),
            Axis(y, Scale::Linear, most_up, Axis::Ends::Whole)};
  }
  return {Axis(cells(grid.columns, grid.columns_in_cell), Scale::Linear, most_across,
               Axis::Ends::Whole),
          Axis(cells(grid.rows, grid.rows_in_cell), Scale::Linear, most_up, Axis::Ends::Whole)};
}

}  // namespace

Axes axes_of(const Figure& figure, int most_across, int most_up) {
  switch (figure.kind) {
    case Kind::Line:
    case Kind::Scatter:
      return series_axes(figure, most_across, most_up);
    case Kind::Histogram:
      return histogram_axes(figure, most_across, most_up);
    case Kind::Image:
    case Kind::Contour:
      break;
  }
  return grid_axes(figure, most_across, most_up);
}

}  // namespace relay::plot
