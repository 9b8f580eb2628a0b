// Diagnostics as a person sees them.
//
// The marks of one source line share a row of underlines. The rightmost text stands in that row,
// the others hang below from connectors, so that any number of labels fits on a line:
//
//   3 | add(ones(shape=[3]), ones(shape=[4]))
//     |     ^^^^^^^^^^^^^^^  ^^^^^^^^^^^^^^^ `(4)` from here
//     |     |
//     |     `(3)` from here

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/utf8.h"

namespace relay::lang {
namespace {

constexpr std::size_t kMaxWidth = 120;     // of a source line; longer ones are shown in part
constexpr std::size_t kWindowMargin = 30;  // what is shown to the left of the first mark then
constexpr std::size_t kTabStop = 4;

enum class Style : std::uint8_t { kPlain, kBold, kError, kWarning, kGutter };

std::string_view ansi(Style style) {
  switch (style) {
    case Style::kPlain:
      return "\x1b[0m";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kError:
      return "\x1b[1;31m";
    case Style::kWarning:
      return "\x1b[1;33m";
    case Style::kGutter:
      return "\x1b[1;34m";
  }
  return "";
}

// A row of characters with styles; a column is a code point.
class TextRow {
 public:
  void put(std::size_t column, std::string character, Style style) {
    if (cells_.size() <= column) cells_.resize(column + 1, Cell{" ", Style::kPlain});
    cells_[column] = {std::move(character), style};
  }
  void write(std::size_t column, std::string_view text, Style style) {
    while (!text.empty()) {
      const std::size_t length = std::max<std::size_t>(code_point_length(text), 1);
      put(column++, std::string(text.substr(0, length)), style);
      text.remove_prefix(length);
    }
  }
  std::size_t width() const { return cells_.size(); }
  std::string text(bool color) const {
    std::string out;
    Style current = Style::kPlain;
    for (const Cell& cell : cells_) {
      if (color && cell.style != current && cell.character != " ") {
        if (current != Style::kPlain) out += ansi(Style::kPlain);
        out += ansi(cell.style);
        current = cell.style;
      }
      out += cell.character;
    }
    if (current != Style::kPlain) out += ansi(Style::kPlain);
    return out;
  }

 private:
  struct Cell {
    std::string character;
    Style style;
  };
  std::vector<Cell> cells_;
};

// A source line laid out in columns: tabs expanded, what a terminal might obey replaced.
struct LineLayout {
  std::vector<std::string> characters;  // by column
  std::vector<std::size_t> column_at;   // by byte; one more for the end

  explicit LineLayout(std::string_view line) {
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t length = code_point_length(line.substr(at));
      for (std::size_t i = 0; i < std::max<std::size_t>(length, 1); ++i) {
        column_at.push_back(characters.size());
      }
      if (line[at] == '\t') {
        const std::size_t stop = (characters.size() / kTabStop + 1) * kTabStop;
        characters.resize(stop, " ");
      } else if (is_obeyed(line.substr(at))) {
        characters.emplace_back("\uFFFD");
      } else {
        characters.emplace_back(line.substr(at, length));
      }
      at += std::max<std::size_t>(length, 1);
    }
    column_at.push_back(characters.size());
  }
  std::size_t column(std::size_t byte) const {
    return column_at[std::min(byte, column_at.size() - 1)];
  }
};

// What is underlined on one line.
struct Mark {
  std::size_t begin;  // bytes in the line, later columns
  std::size_t end;
  std::string text;
  bool primary;
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable_line(text);
}

// A span inside its source, without white space at its end.
Span clamp(Span span) {
  const std::string_view text = span.source->text();
  span.end = std::min(span.end, static_cast<std::uint32_t>(text.size()));
  span.begin = std::min(span.begin, span.end);
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (span.end > span.begin + 1 && is_space(text[span.end - 1])) --span.end;
  return span;
}

bool lies_within(const Span& inner, const Span& outer) {
  return inner.source == outer.source && inner.begin >= outer.begin && inner.end <= outer.end;
}

// The marks of one source by line.
using MarkedLines = std::map<std::uint32_t, std::vector<Mark>>;

void add_mark(MarkedLines& lines, Span span, const std::string& text, bool primary) {
  span = clamp(span);
  const Source::Position first = span.source->position(span.begin);
  Source::Position last = first;
  if (span.end > span.begin) {  // where the last byte ends
    last = span.source->position(span.end - 1);
    ++last.column;
  }
  const std::size_t begin = first.column - 1;
  const std::size_t end = last.column - 1;
  if (first.line == last.line) {
    lines[first.line].push_back({begin, std::max(end, begin + 1), one_line(text), primary});
    return;
  }
  const std::size_t length = span.source->line(first.line).size();
  lines[first.line].push_back({begin, std::max(length, begin + 1), "", primary});
  const std::string_view line = span.source->line(last.line);
  const std::size_t indent = std::min(line.find_first_not_of(" \t"), end - 1);
  lines[last.line].push_back({indent, end, one_line(text), primary});
}

class Renderer {
 public:
  Renderer(const Diagnostic& diagnostic, bool color) : diagnostic_(diagnostic), color_(color) {}

  std::string run() {
    head();
    collect();
    for (std::size_t i = 0; i < sources_.size(); ++i) excerpt(i);
    for (const std::string& note : diagnostic_.notes) write_note(printable(note));
    return std::move(out_);
  }

 private:
  struct MarkedSource {
    const Source* source;
    Span place;  // the first span: what the arrow names
    MarkedLines lines;
  };

  bool unsupported() const { return class_of(diagnostic_.kind) == DiagnosticClass::kUnsupported; }
  Style primary_style() const { return unsupported() ? Style::kWarning : Style::kError; }

  void styled(std::string_view text, Style style) {
    if (color_) out_ += ansi(style);
    out_ += text;
    if (color_) out_ += ansi(Style::kPlain);
  }

  void head() {
    const bool warns = class_of(diagnostic_.kind) == DiagnosticClass::kWarning;
    styled((warns ? "warning[" : "error[") + std::string(name_of(diagnostic_.kind)) + "]",
           primary_style());
    styled(": " + printable(diagnostic_.message), Style::kBold);
    out_ += '\n';
  }

  MarkedSource& marked(const Span& span) {
    for (MarkedSource& known : sources_) {
      if (known.source == span.source) return known;
    }
    return sources_.emplace_back(MarkedSource{span.source, span, {}});
  }

  // Labels inside the primary span say more exactly what it would say; then it is not underlined
  // itself.
  void collect() {
    const Span& primary = diagnostic_.span;
    bool narrower = false;
    if (primary) marked(primary);
    for (const Label& label : diagnostic_.labels) {
      if (!label.span) continue;
      const bool within = primary && lies_within(label.span, primary);
      narrower |= within;
      add_mark(marked(label.span).lines, label.span, label.text, within);
    }
    if (primary && !narrower) add_mark(marked(primary).lines, primary, "", true);

    std::uint32_t last_line = 1;
    for (const MarkedSource& source : sources_) {
      if (!source.lines.empty()) last_line = std::max(last_line, source.lines.rbegin()->first);
    }
    gutter_ = std::to_string(last_line).size();
  }

  void gutter(std::string_view number) {
    styled(std::string(gutter_ - number.size(), ' ') + std::string(number) + " |", Style::kGutter);
  }
  void gutter_row(const TextRow& row) {
    gutter("");
    out_ += ' ' + row.text(color_) + '\n';
  }

  void excerpt(std::size_t index) {
    MarkedSource& marked = sources_[index];
    const Span place = clamp(marked.place);
    const Source::Position at = marked.source->position(place.begin);
    out_ += std::string(gutter_, ' ');
    styled(index == 0 ? "-->" : ":::", Style::kGutter);
    out_ += ' ' + printable_line(marked.source->name()) + ':' + std::to_string(at.line) + ':' +
            std::to_string(code_points(marked.source->line(at.line).substr(0, at.column - 1)) + 1) +
            '\n';
    gutter("");
    out_ += '\n';
    std::uint32_t previous = 0;
    for (auto& [line, marks] : marked.lines) {
      if (previous && line == previous + 2) {
        std::vector<Mark> none;
        source_line(*marked.source, previous + 1, none);
      } else if (previous && line > previous + 2) {
        styled("...", Style::kGutter);
        out_ += '\n';
      }
      source_line(*marked.source, line, marks);
      previous = line;
    }
  }

  void source_line(const Source& source, std::uint32_t number, std::vector<Mark>& marks) {
    const LineLayout layout(source.line(number));
    for (Mark& mark : marks) {
      const std::size_t past = mark.end - std::min(mark.end, layout.column_at.size() - 1);
      mark.begin = layout.column(mark.begin);
      mark.end = std::max(layout.column(mark.end) + std::min<std::size_t>(past, 1), mark.begin + 1);
    }
    TextRow row;
    show_window(layout, marks, row);
    gutter(std::to_string(number));
    if (row.width() > 0) out_ += ' ' + row.text(color_);
    out_ += '\n';
    if (!marks.empty()) underline(marks);
  }

  // Writes the line, or the part around its marks if it is long, and moves the marks accordingly.
  static void show_window(const LineLayout& layout, std::vector<Mark>& marks, TextRow& row) {
    const std::size_t width = layout.characters.size();
    std::size_t from = 0;
    std::size_t to = width;
    if (width > kMaxWidth) {
      std::size_t first = marks.empty() ? 0 : width;
      for (const Mark& mark : marks) first = std::min(first, mark.begin);
      if (first > kMaxWidth - kWindowMargin) from = first - kWindowMargin;
      to = std::min(width, from + kMaxWidth);
    }
    const std::size_t shift = from > 0 ? 3 : 0;
    if (shift) row.write(0, "...", Style::kGutter);
    for (std::size_t column = from; column < to; ++column) {
      row.put(column - from + shift, layout.characters[column], Style::kPlain);
    }
    if (to < width) row.write(to - from + shift, "...", Style::kGutter);
    for (Mark& mark : marks) {
      mark.begin = std::min(mark.begin, to) - from + shift;
      mark.end = std::max(std::min(mark.end, to + 1) - from + shift, mark.begin + 1);
    }
  }

  void underline(std::vector<Mark>& marks) {
    // Wide marks first, so that narrower ones stay visible on top of them.
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
      return a.end - a.begin > b.end - b.begin;
    });
    TextRow row;
    for (const Mark& mark : marks) {
      for (std::size_t column = mark.begin; column < mark.end; ++column) {
        row.put(column, mark.primary ? "^" : "-", style_of(mark));
      }
    }
    std::vector<const Mark*> texts;  // by column
    for (const Mark& mark : marks) {
      if (!mark.text.empty()) texts.push_back(&mark);
    }
    std::stable_sort(texts.begin(), texts.end(),
                     [](const Mark* a, const Mark* b) { return a->begin < b->begin; });
    if (!texts.empty() && fits_beside(*texts.back(), marks)) {
      row.write(row.width() + 1, texts.back()->text, style_of(*texts.back()));
      texts.pop_back();
    }
    gutter_row(row);
    if (!texts.empty()) hang(texts);
  }

  // A text stands beside the underlines if nobody can take it for another mark's.
  static bool fits_beside(const Mark& mark, const std::vector<Mark>& marks) {
    return std::all_of(marks.begin(), marks.end(), [&](const Mark& other) {
      return &other == &mark || other.end <= mark.begin;
    });
  }

  void hang(const std::vector<const Mark*>& texts) {
    TextRow connectors;
    for (const Mark* mark : texts) connectors.put(mark->begin, "|", style_of(*mark));
    gutter_row(connectors);
    for (std::size_t i = texts.size(); i-- > 0;) {
      TextRow row;
      for (std::size_t left = 0; left < i; ++left) {
        row.put(texts[left]->begin, "|", style_of(*texts[left]));
      }
      row.write(texts[i]->begin, texts[i]->text, style_of(*texts[i]));
      gutter_row(row);
    }
  }

  Style style_of(const Mark& mark) const { return mark.primary ? primary_style() : Style::kGutter; }

  // `help: ...` behind `=`; further lines are indented to stand below the first.
  void write_note(std::string_view note) {
    out_ += std::string(gutter_ + 1, ' ');
    styled("=", Style::kGutter);
    out_ += ' ';
    const std::size_t colon = note.find(':');
    if (colon != std::string_view::npos && colon <= 4) {  // `help`, `note`
      styled(note.substr(0, colon), Style::kBold);
      note.remove_prefix(colon);
    }
    for (const char c : note) {
      out_ += c;
      if (c == '\n') out_ += std::string(gutter_ + 3, ' ');
    }
    out_ += '\n';
  }

  const Diagnostic& diagnostic_;
  const bool color_;
  std::string out_;
  std::size_t gutter_ = 1;
  std::vector<MarkedSource> sources_;
};

}  // namespace

std::string render(const Diagnostic& diagnostic, bool color) {
  return Renderer(diagnostic, color).run();
}

}  // namespace relay::lang
