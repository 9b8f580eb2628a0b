#include "plot/text_image.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/stop.h"
#include "plot/colours.h"

namespace relay::plot {

namespace {

std::string colour_sequence(Colour colour, bool is_behind, TextStyle::Colours colours) {
  const int which = is_behind ? 48 : 38;
  if (colours == TextStyle::Colours::All) {
    return fmt::format("\x1b[{};2;{};{};{}m", which, colour.red, colour.green, colour.blue);
  }
  return fmt::format("\x1b[{};5;{}m", which, terminal_colour(colour));
}

// The upper and the lower half of a character; what is a gap is as the terminal is.
TextCell two_halves(const std::optional<Colour>& upper, const std::optional<Colour>& lower,
                    TextStyle::Colours colours) {
  if (!upper && !lower) return {};
  if (!upper) return {"▄", colour_sequence(*lower, false, colours)};
  std::string look = colour_sequence(*upper, false, colours);
  if (lower) look += colour_sequence(*lower, true, colours);
  return {"▀", look};
}

TextCell shade(const std::optional<Colour>& colour, const TextStyle& style) {
  if (!colour) return {"?", ""};
  const double bright = brightness(*colour);
  if (style.colours != TextStyle::Colours::None)
    return {" ", colour_sequence(*colour, true, style.colours)};
  if (style.has_unicode) {
    constexpr std::string_view kShades[] = {" ", "░", "▒", "▓", "█"};
    return {std::string(kShades[static_cast<std::size_t>(std::lround(bright * 4))]), ""};
  }
  constexpr std::string_view kRamp = " .:-=+*#%@";
  return {std::string(1, kRamp[static_cast<std::size_t>(std::lround(bright * 9))]), ""};
}

// How many points across and down, of which each is as wide as it is high.
struct Points {
  std::int64_t across;
  std::int64_t down;
};

Points points_for(const Grid& grid, const BodySize& most) {
  const auto columns = static_cast<double>(grid.columns);
  const auto rows = static_cast<double>(grid.rows);
  double scale = std::min(static_cast<double>(most.columns) / columns,
                          static_cast<double>(2 * most.rows) / rows);
  if (scale > 1) scale = std::floor(scale);  // all elements are of one size
  return {std::max<std::int64_t>(1, std::llround(columns * scale)),
          std::max<std::int64_t>(1, std::llround(rows * scale))};
}

}  // namespace

std::vector<TextRow> image_body(const Grid& grid, const BodySize& most, const TextStyle& style) {
  const bool has_halves = style.has_unicode && style.colours != TextStyle::Colours::None;
  const Points points = points_for(grid, most);
  const std::int64_t text_rows = (points.down + 1) / 2;
  const std::int64_t down = has_halves ? points.down : text_rows;
  const auto colour_at = [&](std::int64_t row, std::int64_t column) -> std::optional<Colour> {
    if (row >= down) return std::nullopt;
    const auto edge = [](std::int64_t place, std::int64_t count, std::int64_t cells) {
      return place * cells / count;
    };
    const std::int64_t begin_row = edge(row, down, grid.rows);
    const std::int64_t begin_column = edge(column, points.across, grid.columns);
    return mean_colour(grid, begin_row, begin_column,
                       std::max(edge(row + 1, down, grid.rows), begin_row + 1),
                       std::max(edge(column + 1, points.across, grid.columns), begin_column + 1));
  };
  std::vector<TextRow> body;
  for (std::int64_t row = 0; row < text_rows; ++row) {
    lang::poll();
    TextRow line;
    for (std::int64_t column = 0; column < points.across; ++column) {
      line.push_back(has_halves ? two_halves(colour_at(2 * row, column),
                                             colour_at(2 * row + 1, column), style.colours)
                                : shade(colour_at(row, column), style));
    }
    body.push_back(std::move(line));
  }
  return body;
}

}  // namespace relay::plot
