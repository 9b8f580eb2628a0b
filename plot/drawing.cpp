#include "plot/drawing.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/stop.h"
#include "lang/utf8.h"
#include "plot/axes.h"
#include "plot/thinned.h"

namespace relay::plot {

namespace {

constexpr double kLetter = 7;  // about the width of one
constexpr double kLine = 16;   // from one line of text to the next
constexpr double kTickSize = 4;
constexpr Colour kGridColour = {228, 228, 228};
constexpr Colour kFrameColour = {90, 90, 90};
constexpr std::size_t kMostLegendLines = 16;

double width_of(const std::string& text) {
  return kLetter * static_cast<double>(lang::code_points(text));
}

// The part of the sheet that the axes span.
struct Body {
  double left, top, width, height;
  double x(double position) const { return left + position * width; }
  double y(double position) const { return top + (1 - position) * height; }
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

class Drawer {
 public:
  Drawer(const Figure& figure, double width, double height)
      : figure_(figure),
        axes_(axes_of(figure, static_cast<int>(width / 90), static_cast<int>(height / 50))) {
    drawing_.width = width;
    drawing_.height = height;
    for (const Tick& tick : axes_.y.ticks()) y_ticks_.push_back(tick);
    if (is_image()) {
      for (Tick& tick : y_ticks_) tick.position = 1 - tick.position;
    }
    body_ = body();
  }

  Drawing take() {
    drawing_.marks.push_back(Box{{0, 0}, drawing_.width, drawing_.height, kWhite});
    if (!is_image()) put_grid();
    switch (figure_.kind) {
      case Kind::Line:
      case Kind::Contour:
        put_lines();
        break;
      case Kind::Scatter:
        put_points();
        break;
      case Kind::Histogram:
        put_bars();
        break;
      case Kind::Image:
        put_image();
        break;
    }
    put_frame();
    put_legend();
    put_texts();
    return std::move(drawing_);
  }

 private:
  bool is_image() const { return figure_.kind == Kind::Image; }
  bool has_legend() const {
    return figure_.series.size() > 1 ||
           (figure_.series.size() == 1 && !figure_.series.front().label.empty());
  }

  Body body() const {
    double label_width = 0;
    for (const Tick& tick : y_ticks_) label_width = std::max(label_width, width_of(tick.label));
    double legend_width = 0;
    if (has_legend()) {
      for (const Series& each : figure_.series)
        legend_width = std::max(legend_width, width_of(each.label) + 4 * kLetter);
      legend_width = std::min(legend_width, drawing_.width / 3);
    }
    const double margin = 14;
    Body area{};
    area.left = margin + label_width + 2 * kTickSize;
    area.top = margin + (figure_.title.empty() ? 0 : kLine);
    area.width = drawing_.width - area.left - margin - kLetter - legend_width;
    area.height = drawing_.height - area.top - margin - kLine - kTickSize -
                  kLine * static_cast<double>(figure_.notes.size());
    area.width = std::max(area.width, 1.0);
    area.height = std::max(area.height, 1.0);
    const auto& grid = figure_.grid;
    if (is_image() && grid.rows > 0 && grid.columns > 0) {
      // Elements are squares.
      const double scale = std::min(area.width / static_cast<double>(grid.columns),
                                    area.height / static_cast<double>(grid.rows));
      area.width = std::max(scale * static_cast<double>(grid.columns), 1.0);
      area.height = std::max(scale * static_cast<double>(grid.rows), 1.0);
    }
    return area;
  }

  void put_grid() {
    for (const Tick& tick : axes_.x.ticks()) {
      const double x = body_.x(tick.position);
      drawing_.marks.push_back(Stroke{{{x, body_.top}, {x, body_.bottom()}}, kGridColour, 1});
    }
    for (const Tick& tick : y_ticks_) {
      const double y = body_.y(tick.position);
      drawing_.marks.push_back(Stroke{{{body_.left, y}, {body_.right(), y}}, kGridColour, 1});
    }
  }

  Colour colour_of(std::size_t series) const {
    if (figure_.kind != Kind::Contour) return series_colour(series);
    const auto count = static_cast<double>(figure_.series.size());
    return level_colour(count > 1 ? static_cast<double>(series) / (count - 1) : 0.5);
  }

  // A piece between two gaps; one point alone is a dot.
  void put_piece(std::vector<Place>& piece, Colour colour) {
    constexpr double kWidth = 1.5;
    if (piece.size() == 1) drawing_.marks.push_back(Dots{piece, colour, 2});
    if (piece.size() > 1) drawing_.marks.push_back(Stroke{thinned_line(piece), colour, kWidth});
    piece.clear();
  }

  Place place_of(const Series& series, std::size_t i) const {
    return {body_.x(axes_.x.position(series.x[i])), body_.y(axes_.y.position(series.y[i]))};
  }

  void put_lines() {
    for (std::size_t number = 0; number < figure_.series.size(); ++number) {
      const Series& series = figure_.series[number];
      std::vector<Place> piece;
      if (figure_.kind == Kind::Contour) {
        for (std::size_t i = 0; i < series.x.size(); ++i) piece.push_back(place_of(series, i));
        drawing_.marks.push_back(Stroke{std::move(piece), colour_of(number), 1.5});
        continue;
      }
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        const Place place = place_of(series, i);
        if (std::isnan(place.x + place.y)) {
          put_piece(piece, colour_of(number));
        } else {
          piece.push_back(place);
        }
      }
      put_piece(piece, colour_of(number));
    }
  }

  void put_points() {
    for (std::size_t number = 0; number < figure_.series.size(); ++number) {
      const Series& series = figure_.series[number];
      std::vector<Place> places;
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        const Place place = place_of(series, i);
        if (!std::isnan(place.x + place.y)) places.push_back(place);
      }
      constexpr double kRadius = 2.5;
      if (!places.empty())
        drawing_.marks.push_back(Dots{thinned_dots(places), colour_of(number), kRadius});
    }
  }

  void put_bars() {
    for (std::size_t bin = 0; bin < figure_.counts.size(); ++bin) {
      const double top = axes_.y.position(figure_.counts[bin]);
      if (std::isnan(top) || figure_.counts[bin] == 0) continue;
      const double left = body_.x(axes_.x.position(figure_.edges[bin]));
      const double right = body_.x(axes_.x.position(figure_.edges[bin + 1]));
      const double gap = right - left > 4 ? 1 : 0;
      // What is there is seen.
      const double height = std::max(body_.bottom() - body_.y(top), 1.0);
      drawing_.marks.push_back(Box{{left, body_.bottom() - height},
                                   std::max(right - left - gap, 0.5),
                                   height,
                                   series_colour(0)});
    }
  }

  void put_image() {
    const Grid& grid = figure_.grid;
    if (grid.rows == 0 || grid.columns == 0) return;
    lang::TensorRef pixels = lang::Tensor::make(lang::DType::UInt8, {grid.rows, grid.columns, 3});
    auto* byte = pixels->data_as<std::uint8_t>();
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      lang::poll();
      for (std::int64_t column = 0; column < grid.columns; ++column) {
        const Colour colour =
            mean_colour(grid, row, column, row + 1, column + 1).value_or(kGapColour);
        *byte++ = colour.red;
        *byte++ = colour.green;
        *byte++ = colour.blue;
      }
    }
    drawing_.marks.push_back(
        Picture{{body_.left, body_.top}, body_.width, body_.height, std::move(pixels)});
  }

  void put_frame() {
    drawing_.marks.push_back(Stroke{{{body_.left, body_.top},
                                     {body_.right(), body_.top},
                                     {body_.right(), body_.bottom()},
                                     {body_.left, body_.bottom()},
                                     {body_.left, body_.top}},
                                    kFrameColour,
                                    1});
    double free_from = 0;  // where the last label below ends
    for (const Tick& tick : axes_.x.ticks()) {
      const double x = body_.x(tick.position);
      const double half = width_of(tick.label) / 2;
      if (x - half < free_from) continue;
      free_from = x + half + kLetter;
      drawing_.marks.push_back(
          Stroke{{{x, body_.bottom()}, {x, body_.bottom() + kTickSize}}, kFrameColour, 1});
      drawing_.marks.push_back(
          Label{{x, body_.bottom() + kLine}, tick.label, Label::Anchor::Middle});
    }
    for (const Tick& tick : y_ticks_) {
      const double y = body_.y(tick.position);
      drawing_.marks.push_back(
          Stroke{{{body_.left - kTickSize, y}, {body_.left, y}}, kFrameColour, 1});
      drawing_.marks.push_back(
          Label{{body_.left - 2 * kTickSize, y + 4}, tick.label, Label::Anchor::End});
    }
  }

  void put_legend() {
    if (!has_legend()) return;
    const double x = body_.right() + kLetter;
    const auto most = std::min(kMostLegendLines,
                               static_cast<std::size_t>(std::max(body_.height / kLine, 2.0)) - 1);
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      const double y = body_.top + kLine * (static_cast<double>(i) + 0.75);
      if (i == most) {
        drawing_.marks.push_back(
            Label{{x, y}, fmt::format("and {} more", figure_.series.size() - i)});
        break;
      }
      drawing_.marks.push_back(Stroke{{{x, y - 4}, {x + 2 * kLetter, y - 4}}, colour_of(i), 2.5});
      drawing_.marks.push_back(Label{{x + 3 * kLetter, y}, figure_.series[i].label});
    }
  }

  void put_texts() {
    if (!figure_.title.empty()) {
      drawing_.marks.push_back(Label{
          {body_.left + body_.width / 2, body_.top - 7}, figure_.title, Label::Anchor::Middle});
    }
    double y = body_.bottom() + kLine;
    for (const std::string& note : figure_.notes) {
      y += kLine;
      drawing_.marks.push_back(Label{{body_.left, y}, note});
    }
  }

  const Figure& figure_;
  const Axes axes_;
  std::vector<Tick> y_ticks_;
  Body body_{};
  Drawing drawing_;
};

}  // namespace

Drawing draw(const Figure& figure, double width, double height) {
  return Drawer(figure, width, height).take();
}

}  // namespace relay::plot
