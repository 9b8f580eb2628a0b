#include "repl/plotting.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "formats/formats.h"
#include "formats/output_file.h"
#include "formats/png.h"
#include "plot/drawing.h"
#include "plot/raster.h"
#include "plot/sixel.h"
#include "plot/svg.h"
#include "repl/output.h"
#include "repl/shown_picture.h"

namespace relay::repl {

namespace {

bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (!value || *value == '\0') continue;
    std::string locale(value);
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

plot::TextStyle style_of(const SessionOptions& options) {
  plot::TextStyle style = options.plot_style ? options.plot_style() : plot::TextStyle();
  if (options.shown.plots == ShownSize::Plots::Ascii) style.has_unicode = false;
  style.columns = options.shown.columns.value_or(style.columns);
  style.rows = options.shown.lines.value_or(style.rows);
  return style;
}

}  // namespace

bool shows_points(const SessionOptions& options) {
  using Plots = ShownSize::Plots;
  return options.shown.plots == Plots::Sixel ||
         (options.shown.plots == Plots::Auto && options.draws_points && options.draws_points());
}

namespace {

std::string shown_plot(const plot::Figure& figure, const SessionOptions& options) {
  const plot::TextStyle style = style_of(options);
  if (options.show_picture) {
    options.show_picture(
        {plot::text_of(figure, style), plot::svg_of(plot::draw(figure), formats::png_bytes)});
    return {};
  }
  if (!shows_points(options)) return plot::text_of(figure, style);
  // About as wide as the text would be.
  constexpr double kPointsInColumn = 9;
  constexpr double kMostPoints = 960;
  const plot::Drawing drawing = plot::draw(figure);
  const double width = std::min(kPointsInColumn * static_cast<double>(style.columns), kMostPoints);
  return plot::sixel_of(*plot::raster_of(drawing, width / drawing.width));
}

}  // namespace

std::string draw_plot(const lang::Value& value, const plot::Request& request,
                      const SessionOptions& options) {
  const plot::Figure figure = plot::figure_of(value, request);
  if (request.file.empty()) return shown_plot(figure, options);
  switch (plot::file_type_of(request.file)) {
    case plot::FileType::Svg:
      formats::write_whole(request.file, plot::svg_of(plot::draw(figure), formats::png_bytes),
                           options.files);
      break;
    case plot::FileType::Png: {
      constexpr double kPixels = 1.5;  // for each unit of a drawing
      const formats::Location location{request.file, "", ",", false, options.files};
      formats::write_tensors(location, {{"", plot::raster_of(plot::draw(figure), kPixels)}},
                             nullptr)
          .or_throw();
      break;
    }
    case plot::FileType::Text:
      formats::write_whole(request.file, plot::text_of(figure, {}), options.files);
      break;
  }
  return {};
}

plot::TextStyle plot_style_of_output(std::string_view color) {
  using Colours = plot::TextStyle::Colours;
  constexpr std::size_t kMostColumns = 120;
  constexpr std::size_t kMostRows = 24;
  constexpr std::size_t kOthers = 4;  // the entry and the next prompt are to be seen
  plot::TextStyle style;
  if (isatty(STDOUT_FILENO) != 0) {
    const TerminalSize size = terminal_size();
    style.columns = std::min(size.columns, kMostColumns);
    style.rows = std::min(std::max(size.rows, kOthers) - kOthers, kMostRows);
    style.has_unicode = is_utf8_locale();
  }
  if (wants_color(color, STDOUT_FILENO)) {
    const char* const depth = std::getenv("COLORTERM");
    const std::string_view name = depth ? depth : "";
    style.colours = name == "truecolor" || name == "24bit" ? Colours::All : Colours::Few;
  }
  return style;
}

}  // namespace relay::repl
