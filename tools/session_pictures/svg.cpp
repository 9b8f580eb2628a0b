#include "tools/session_pictures/svg.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace relay::tools {

namespace {

using Row = std::vector<tests::Screen::Cell>;

constexpr double kCell = 8.4;    // of a font of 14 pixels
constexpr double kLine = 20;     // from one base line to the next
constexpr double kMargin = 16;   // around the text
constexpr double kAscent = 14;   // from the top of a line to its base line
constexpr double kDescent = 20;  // and to its foot

// `bright-black` and the like are classes of the style as they are called.
constexpr std::string_view kStyle = R"(
  text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre }
  .bold { font-weight: bold } .dim { opacity: 0.65 } .italic { font-style: italic }
  .underline { text-decoration: underline } .reverse { fill: #1b1f27 }
  .black { fill: #5c6370 } .red { fill: #ef7a82 } .green { fill: #98c379 } .yellow { fill: #e5c07b }
  .blue { fill: #61afef } .magenta { fill: #cf8ae6 } .cyan { fill: #56c2cd } .white { fill: #ffffff }
  .bright-black { fill: #98a0ae } .bright-red { fill: #ff8f98 } .bright-green { fill: #b5e890 }
  .bright-yellow { fill: #ffd88f } .bright-blue { fill: #84c6ff } .bright-magenta { fill: #e5a6fa }
  .bright-cyan { fill: #7fe3ee } .bright-white { fill: #ffffff }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

// Cells from `from` on that look the same.
std::size_t end_of_run(const Row& row, std::size_t from) {
  std::size_t to = from + 1;
  while (to < row.size() && row[to].look == row[from].look) ++to;
  return to;
}

bool is_blank(const tests::Screen::Cell& cell) {
  return cell.text == " " && cell.look.find("reverse") == std::string::npos &&
         cell.look.find("underline") == std::string::npos;
}

// The cells of a run, without blanks at its ends.
std::string svg_of_run(const Row& row, std::size_t from, std::size_t to, double top) {
  while (from < to && is_blank(row[from])) ++from;
  while (to > from && is_blank(row[to - 1])) --to;
  if (from == to) return "";
  const double x = kMargin + kCell * static_cast<double>(from);
  const double width = kCell * static_cast<double>(to - from);
  const std::string& look = row[from].look;
  std::string text;
  for (std::size_t i = from; i < to; ++i) text += row[i].text;
  std::string out;
  if (look.find("reverse") != std::string::npos)
    out += fmt::format(
               R"(<rect x="{:.1f}" y="{:.0f}" width="{:.1f}" height="{:.0f}" fill="#98a0ae"/>)", x,
               top, width, kDescent) +
           '\n';
  out += fmt::format(
      R"(<text x="{:.1f}" y="{:.0f}" textLength="{:.1f}" lengthAdjust="spacingAndGlyphs")", x,
      top + kAscent, width);
  if (!look.empty()) out += fmt::format(R"( class="{}")", look);
  return out + fmt::format(">{}</text>\n", escaped(text));
}

}  // namespace

std::string svg_of(const tests::Screen& screen, std::string_view title) {
  const auto& table = screen.table();
  auto rows = static_cast<std::size_t>(screen.cursor_row()) + 1;
  for (std::size_t i = rows; i < table.size(); ++i)
    if (!std::all_of(table[i].begin(), table[i].end(), is_blank)) rows = i + 1;
  const double width = 2 * kMargin + kCell * static_cast<double>(table.front().size());
  const double height = 2 * kMargin + kLine * static_cast<double>(rows);
  std::string out =
      fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}")"
                  R"( viewBox="0 0 {0:.0f} {1:.0f}" role="img">)"
                  "\n<title>{2}</title>\n<style>{3}</style>\n"
                  R"(<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>)"
                  "\n",
                  width, height, escaped(title), kStyle);
  for (std::size_t i = 0; i < rows; ++i) {
    const double top = kMargin + kLine * static_cast<double>(i);
    if (i == static_cast<std::size_t>(screen.cursor_row()))
      out +=
          fmt::format(
              R"(<rect x="{:.1f}" y="{:.0f}" width="{:.1f}" height="{:.0f}" fill="#d8dee9" opacity="0.8"/>)",
              kMargin + kCell * screen.column(), top, kCell, kDescent) +
          '\n';
    for (std::size_t from = 0; from < table[i].size();) {
      const std::size_t to = end_of_run(table[i], from);
      out += svg_of_run(table[i], from, to, top);
      from = to;
    }
  }
  return out + "</svg>\n";
}

}  // namespace relay::tools
