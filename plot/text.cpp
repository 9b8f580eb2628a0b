#include "plot/text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/stop.h"
#include "plot/axes.h"
#include "plot/canvas.h"
#include "plot/text_frame.h"
#include "plot/text_image.h"

namespace relay::plot {

namespace {

constexpr std::size_t kMostLegendEntries = 10;

// Dots tell series apart only where they have colours.
Canvas::Dots dots_for(const Figure& figure, const TextStyle& style) {
  const bool is_alone = figure.series.size() <= 1;
  if (!is_alone && style.colours == TextStyle::Colours::None) return Canvas::Dots::Marks;
  if (style.has_unicode) return Canvas::Dots::Braille;
  return is_alone ? Canvas::Dots::Halves : Canvas::Dots::Marks;
}

std::vector<LegendEntry> legend_of(const Figure& figure, Canvas::Dots dots,
                                   const TextStyle& style) {
  std::vector<LegendEntry> entries;
  const std::size_t count = figure.series.size();
  if (count == 1 && figure.series.front().label.empty()) return entries;
  for (std::size_t i = 0; i < count; ++i) {
    if (entries.size() == kMostLegendEntries) {
      entries.push_back({{" ", ""}, fmt::format("and {} more", count - i)});
      break;
    }
    const std::string_view mark = dots == Canvas::Dots::Marks ? Canvas::mark(i)
                                  : style.has_unicode         ? "━"
                                                              : "-";
    entries.push_back(
        {{std::string(mark), look_of_series(i, style.colours)}, figure.series[i].label});
  }
  return entries;
}

std::vector<TextRow> body_of_canvas(const Canvas& canvas, const BodySize& size,
                                    const TextStyle& style) {
  std::vector<TextRow> body(size.rows, TextRow(size.columns));
  for (std::size_t row = 0; row < size.rows; ++row) {
    for (std::size_t column = 0; column < size.columns; ++column) {
      const std::string_view text = canvas.text(column, row);
      if (text == " ") continue;
      body[row][column] = {std::string(text),
                           look_of_series(canvas.series(column, row), style.colours)};
    }
  }
  return body;
}

std::vector<TextRow> series_body(const Figure& figure, const Axes& axes, const BodySize& size,
                                 Canvas::Dots dots, const TextStyle& style) {
  Canvas canvas(size.columns, size.rows, dots);
  constexpr std::size_t kBetweenPolls = 4096;
  for (std::size_t number = 0; number < figure.series.size(); ++number) {
    const Series& series = figure.series[number];
    double last_x = std::nan("");
    double last_y = std::nan("");
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (i % kBetweenPolls == 0) lang::poll();
      const double x = axes.x.position(series.x[i]);
      const double y = axes.y.position(series.y[i]);
      canvas.point(x, y, number);
      if (figure.kind != Kind::Scatter) canvas.line(last_x, last_y, x, y, number);
      last_x = x;
      last_y = y;
    }
  }
  return body_of_canvas(canvas, size, style);
}

// Bars, in eighths of a character where there are such characters.
std::vector<TextRow> histogram_body(const Figure& figure, const Axes& axes, const BodySize& size,
                                    const TextStyle& style) {
  constexpr std::string_view kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::string look = look_of_series(0, style.colours);
  std::vector<TextRow> body(size.rows, TextRow(size.columns));
  const auto column_of = [&](double edge) {
    return static_cast<std::size_t>(
        std::lround(axes.x.position(edge) * static_cast<double>(size.columns)));
  };
  const double steps = style.has_unicode ? 8 : 1;
  // A column that several bins share shows the highest.
  std::vector<double> heights(size.columns, 0);
  for (std::size_t bin = 0; bin < figure.counts.size(); ++bin) {
    const double share = axes.y.position(figure.counts[bin]);
    if (std::isnan(share) || figure.counts[bin] == 0) continue;
    // What is there is seen.
    const double height =
        std::max(std::round(share * static_cast<double>(size.rows) * steps), 1.0) / steps;
    const std::size_t begin = std::min(column_of(figure.edges[bin]), size.columns - 1);
    const std::size_t end = std::max(column_of(figure.edges[bin + 1]), begin + 1);
    for (std::size_t column = begin; column < std::min(end, size.columns); ++column)
      heights[column] = std::max(heights[column], height);
  }
  for (std::size_t row = 0; row < size.rows; ++row) {
    const auto below = static_cast<double>(size.rows - 1 - row);
    for (std::size_t column = 0; column < size.columns; ++column) {
      const double filled = std::clamp(heights[column] - below, 0.0, 1.0);
      if (filled == 0) continue;
      const auto eighths = static_cast<std::size_t>(std::lround(filled * 8));
      body[row][column] = {style.has_unicode ? std::string(kEighths[eighths]) : "#", look};
    }
  }
  return body;
}

}  // namespace

std::string text_of(const Figure& figure, const TextStyle& given) {
  constexpr std::size_t kLeastColumns = 20;
  constexpr std::size_t kLeastRows = 8;
  TextStyle style = given;
  style.columns = std::max(style.columns, kLeastColumns);
  style.rows = std::max(style.rows, kLeastRows);
  const Canvas::Dots dots = dots_for(figure, style);
  Axes axes = axes_of(figure, most_ticks_across(style), most_ticks_up(style));
  TextFrame frame{figure.title, axes.x.ticks(), axes.y.ticks(), legend_of(figure, dots, style),
                  figure.notes};
  const BodySize size = body_size(frame, style);
  if (figure.kind == Kind::Histogram)
    return framed(frame, histogram_body(figure, axes, size, style), style);
  if (figure.kind == Kind::Image && !figure.grid.values.empty()) {
    for (Tick& tick : frame.y_ticks) tick.position = 1 - tick.position;
    return framed(frame, image_body(figure.grid, size, style), style);
  }
  return framed(frame, series_body(figure, axes, size, dots, style), style);
}

}  // namespace relay::plot
