#pragma once

#include <string>
#include <vector>

#include "plot/axis.h"
#include "plot/text.h"

// What stands around a plot in characters: a frame with ticks, a title, a legend.
namespace relay::plot {

// A character and the sequence by which a terminal gives it its look; empty: as all text.
struct TextCell {
  std::string text = " ";
  std::string look = {};
};
using TextRow = std::vector<TextCell>;

struct LegendEntry {
  TextCell mark;
  std::string label;
};

// The axes and all else that is known before there is a body.
struct TextFrame {
  std::string title = {};
  std::vector<Tick> x_ticks = {};
  std::vector<Tick> y_ticks = {};  // upwards
  std::vector<LegendEntry> legend = {};
  std::vector<std::string> notes = {};
};

// How many columns and rows are left for the body; at least 4 and 2.
struct BodySize {
  std::size_t columns;
  std::size_t rows;
};
BodySize body_size(const TextFrame& frame, const TextStyle& style);

// All of it, around a body whose rows are equally long.
std::string framed(const TextFrame& frame, const std::vector<TextRow>& body,
                   const TextStyle& style);

// The look of a series, without colours an empty one.
std::string look_of_series(std::size_t series, TextStyle::Colours colours);
inline constexpr std::string_view kPlainLook = "\x1b[0m";

// How many ticks there is room for.
int most_ticks_across(const TextStyle& style);
int most_ticks_up(const TextStyle& style);

}  // namespace relay::plot
