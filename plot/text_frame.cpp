#include "plot/text_frame.h"

#include <algorithm>
#include <cmath>

#include "lang/utf8.h"

namespace relay::plot {

namespace {

constexpr std::size_t kLeastBodyColumns = 4;
constexpr std::size_t kLeastBodyRows = 2;

struct Lines {
  std::string_view across, up, top_left, top_right, bottom_left, bottom_right, tick_left,
      tick_below;
};
constexpr Lines kUnicodeLines = {"─", "│", "┌", "┐", "└", "┘", "┤", "┬"};
constexpr Lines kAsciiLines = {"-", "|", "+", "+", "+", "+", "+", "+"};

std::size_t width_of_labels(const std::vector<Tick>& ticks) {
  std::size_t width = 0;
  for (const Tick& tick : ticks) width = std::max(width, tick.label.size());
  return width;
}

// A label with its mark, of at most a third of all columns.
std::string legend_label(const std::string& label, const TextStyle& style) {
  const std::size_t most = style.columns / 3;
  const std::string text = lang::printable_line(label);
  if (lang::code_points(text) <= most) return text;
  std::string cut;
  for (std::size_t i = 0; lang::code_points(cut) + 3 < most && i < text.size();) {
    const std::size_t length = std::max<std::size_t>(lang::code_point_length(text.substr(i)), 1);
    cut += text.substr(i, length);
    i += length;
  }
  return cut + "...";
}

std::size_t legend_width(const TextFrame& frame, const TextStyle& style) {
  std::size_t width = 0;
  for (const LegendEntry& entry : frame.legend) {
    width = std::max(width, 3 + lang::code_points(entry.mark.text) +
                                lang::code_points(legend_label(entry.label, style)));
  }
  return width;
}

// Beside narrow plots there is no room for it.
bool has_legend_beside(const TextFrame& frame, const TextStyle& style) {
  constexpr std::size_t kShare = 3;
  return !frame.legend.empty() && legend_width(frame, style) * kShare <= style.columns * 2 &&
         style.columns >= legend_width(frame, style) + width_of_labels(frame.y_ticks) + 16;
}

std::string with_look(const TextCell& cell) {
  return cell.look.empty() ? cell.text : cell.look + cell.text + std::string(kPlainLook);
}

// Cells of the same look have it told once.
std::string row_text(const TextRow& row) {
  std::string text;
  std::string look;
  for (const TextCell& cell : row) {
    if (cell.look != look) {
      if (!look.empty()) text += kPlainLook;
      text += cell.look;
      look = cell.look;
    }
    text += cell.text;
  }
  return look.empty() ? text : text + std::string(kPlainLook);
}

std::vector<std::string> wrapped_note(const std::string& note, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < note.size();) {
    const std::size_t end = std::min(note.find(' ', i), note.size());
    const std::string word = note.substr(i, end - i);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    i = end + 1;
  }
  return lines;
}

// The labels below the frame, none of which touches another; and in `marked` where ticks are.
std::string labels_below(const std::vector<Tick>& ticks, std::size_t margin, std::size_t columns,
                         std::vector<bool>& marked) {
  std::string line;
  const std::size_t most = margin + columns + 2;
  for (const Tick& tick : ticks) {
    const auto column =
        static_cast<std::size_t>(std::lround(tick.position * static_cast<double>(columns - 1)));
    const std::size_t middle = margin + 1 + column;
    const std::size_t half = (tick.label.size() - 1) / 2;
    std::size_t begin = middle > half ? middle - half : 0;
    if (begin + tick.label.size() > most) begin = most - std::min(most, tick.label.size());
    if (!line.empty() && begin < line.size() + 2) continue;
    line.resize(begin, ' ');
    line += tick.label;
    marked[column] = true;
  }
  return line;
}

}  // namespace

int most_ticks_across(const TextStyle& style) {
  constexpr std::size_t kColumns = 12;
  return static_cast<int>(std::max<std::size_t>(style.columns / kColumns, 2));
}

int most_ticks_up(const TextStyle& style) {
  constexpr std::size_t kRows = 4;
  return static_cast<int>(std::max<std::size_t>(style.rows / kRows, 2));
}

std::string look_of_series(std::size_t series, TextStyle::Colours colours) {
  // Those of the terminal's own colours that are seen on white and on black.
  constexpr std::string_view kLooks[] = {"\x1b[34m", "\x1b[31m", "\x1b[32m",
                                         "\x1b[35m", "\x1b[36m", "\x1b[33m"};
  if (colours == TextStyle::Colours::None) return {};
  return std::string(kLooks[series % std::size(kLooks)]);
}

BodySize body_size(const TextFrame& frame, const TextStyle& style) {
  constexpr std::size_t kFrame = 3;  // a blank and two lines
  std::size_t across = width_of_labels(frame.y_ticks) + kFrame;
  std::size_t down = kFrame + (frame.title.empty() ? 0 : 1) + frame.notes.size();
  if (has_legend_beside(frame, style)) {
    across += legend_width(frame, style);
  } else {
    down += frame.legend.size();
  }
  return {std::max(style.columns, across + kLeastBodyColumns) - across,
          std::max(style.rows, down + kLeastBodyRows) - down};
}

std::string framed(const TextFrame& frame, const std::vector<TextRow>& body,
                   const TextStyle& style) {
  const Lines& lines = style.has_unicode ? kUnicodeLines : kAsciiLines;
  const std::size_t columns = body.front().size();
  const std::size_t margin = width_of_labels(frame.y_ticks) + 1;
  const bool is_beside = has_legend_beside(frame, style);
  std::vector<std::string> labels(body.size());
  for (const Tick& tick : frame.y_ticks) {
    const auto row = static_cast<std::size_t>(
        std::lround((1 - tick.position) * static_cast<double>(body.size() - 1)));
    if (labels[row].empty()) labels[row] = tick.label;
  }
  std::string text;
  const auto put_line = [&](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const auto repeated = [](std::string_view piece, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += piece;
    return all;
  };
  if (!frame.title.empty()) {
    const std::string title = lang::printable_line(frame.title);
    const std::size_t length = lang::code_points(title);
    put_line(std::string(margin + 1 + (columns > length ? (columns - length) / 2 : 0), ' ') +
             title);
  }
  put_line(std::string(margin, ' ') + std::string(lines.top_left) +
           repeated(lines.across, columns) + std::string(lines.top_right));
  for (std::size_t row = 0; row < body.size(); ++row) {
    std::string line = std::string(margin - 1 - labels[row].size(), ' ') + labels[row] + " ";
    line += labels[row].empty() ? lines.up : lines.tick_left;
    line += row_text(body[row]) + std::string(lines.up);
    if (is_beside && row < frame.legend.size()) {
      const LegendEntry& entry = frame.legend[row];
      line += "  " + with_look(entry.mark) + " " + legend_label(entry.label, style);
    }
    put_line(line);
  }
  std::vector<bool> marked(columns, false);
  const std::string below = labels_below(frame.x_ticks, margin, columns, marked);
  std::string bottom = std::string(margin, ' ') + std::string(lines.bottom_left);
  for (std::size_t i = 0; i < columns; ++i) bottom += marked[i] ? lines.tick_below : lines.across;
  put_line(bottom + std::string(lines.bottom_right));
  put_line(below);
  if (!is_beside) {
    for (const LegendEntry& entry : frame.legend)
      put_line("  " + with_look(entry.mark) + " " + legend_label(entry.label, style));
  }
  for (const std::string& note : frame.notes) {
    for (const std::string& line : wrapped_note(note, style.columns)) put_line(line);
  }
  return text;
}

}  // namespace relay::plot
