#include "repl/editor/view.h"

#include <algorithm>

#include <fmt/format.h>

#include "repl/editor/width.h"

namespace relay::repl::editor {

namespace {

constexpr std::string_view kEraseLine = "\x1b[K";
constexpr std::string_view kEraseBelow = "\x1b[J";

std::size_t first_difference(const std::vector<Frame::Cell>& a, const std::vector<Frame::Cell>& b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (i < most && a[i] == b[i]) ++i;
  // A wide character is written whole.
  while (i > 0 && ((i < a.size() && a[i].text.empty()) || (i < b.size() && b[i].text.empty()))) --i;
  return i;
}

}  // namespace

void View::forget() {
  shown_ = {};
  top_ = 0;
  line_ = 0;
  line_columns_ = 0;
}

// Rows that have not been drawn yet are made, which may scroll the window.
std::string View::move_to(std::size_t row, std::size_t column) {
  std::string bytes;
  if (row == shown_.row && column == shown_.column) return bytes;
  const std::size_t last = shown_.rows.empty() ? 0 : shown_.rows.size() - 1;
  if (row < shown_.row) bytes += fmt::format("\x1b[{}A", shown_.row - row);
  const std::size_t there = std::min(row, std::max(last, shown_.row));
  if (there > shown_.row) bytes += fmt::format("\x1b[{}B", there - shown_.row);
  const std::size_t made = row - std::min(row, there);
  if (made > 0 || column == 0) bytes += '\r';
  bytes.append(made, '\n');
  // Behind the last column the terminal's own idea of the column is not to be counted on.
  if (column > 0 && (made > 0 || column != shown_.column)) {
    if (made == 0) bytes += '\r';
    bytes += fmt::format("\x1b[{}C", column);
  }
  shown_.row = row;
  shown_.column = column;
  return bytes;
}

void View::put_cells(std::string& bytes, const std::vector<Frame::Cell>& row,
                     std::size_t begin) const {
  Face face = Face::Plain;
  for (std::size_t i = begin; i < row.size(); ++i) {
    if (terminal_.has_colours && row[i].face != face) bytes += sequence_of(face = row[i].face);
    bytes += row[i].text;
  }
  if (face != Face::Plain) bytes += sequence_of(Face::Plain);
}

std::string View::draw_frame(const Frame& frame) {
  std::string bytes;
  for (std::size_t i = 0; i < frame.rows.size(); ++i) {
    const bool is_new = i >= shown_.rows.size();
    const std::vector<Frame::Cell>& row = frame.rows[i];
    const std::size_t old_width = is_new ? 0 : shown_.rows[i].size();
    if (!is_new && shown_.rows[i] == row) continue;
    const std::size_t from = is_new ? 0 : first_difference(shown_.rows[i], row);
    bytes += move_to(i, from);
    put_cells(bytes, row, from);
    if (row.size() < old_width) bytes += kEraseLine;
    if (is_new) {
      shown_.rows.push_back(row);
    } else {
      shown_.rows[i] = row;
    }
    shown_.row = i;
    shown_.column = row.size();
  }
  if (shown_.rows.size() > frame.rows.size()) {
    bytes += move_to(frame.rows.size(), 0);
    bytes += kEraseBelow;
    shown_.rows.resize(frame.rows.size());
  }
  return bytes + move_to(frame.row, frame.column);
}

// Lines that the cursor has passed are drawn as they are, and left.
std::string View::draw_lines(const Scene& scene) {
  const auto begin = scene.text.begin();
  const auto line = static_cast<std::size_t>(
      std::count(begin, begin + static_cast<std::ptrdiff_t>(scene.cursor), '\n'));
  std::string bytes;
  bool is_new = line < line_;
  if (is_new) line_ = line;
  std::size_t first = 0;
  for (std::size_t i = 0; i < line_; ++i) first = scene.text.find('\n', first) + 1;
  for (; line_ < line; ++line_, is_new = true) {
    const std::size_t end = scene.text.find('\n', first);
    bytes += draw_line({scene.text, end}, is_new);
    first = end + 1;
  }
  return bytes + draw_line(scene, is_new);
}

// Without moving the cursor but by CR and BS: the line with the cursor, cut around it.
std::string View::draw_line(const Scene& scene, bool is_new) {
  const std::size_t found =
      scene.cursor == 0 ? std::string_view::npos : scene.text.rfind('\n', scene.cursor - 1);
  const std::size_t first = found == std::string_view::npos ? 0 : found + 1;
  const std::size_t last = std::min(scene.text.find('\n', scene.cursor), scene.text.size());
  const std::size_t line = line_;
  std::string bytes = is_new ? "\r\n" : "\r";
  if (is_new) line_columns_ = 0;
  const std::string_view prompt = line == 0 ? scene.prompt : kMorePrompt;
  const auto room = static_cast<int>(terminal_.columns) - static_cast<int>(prompt.size()) - 1;
  std::string_view before = scene.text.substr(first, scene.cursor - first);
  while (!before.empty() && columns_of(before) > room)
    before.remove_prefix(character_at(before).bytes);
  std::string_view after = scene.text.substr(scene.cursor, last - scene.cursor);
  while (!after.empty() && columns_of(before) + columns_of(after) > room)
    after.remove_suffix(after.size() - character_before(after, after.size()));
  const auto cell = [&](std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) bytes += text[i] == '\t' ? ' ' : text[i];
  };
  bytes += prompt, cell(before), cell(after);
  const auto columns =
      prompt.size() + static_cast<std::size_t>(columns_of(before) + columns_of(after));
  const std::size_t stale = line_columns_ - std::min(line_columns_, columns);
  bytes.append(stale, ' ');
  bytes.append(stale + static_cast<std::size_t>(columns_of(after)), '\b');
  line_columns_ = columns;
  return bytes;
}

std::string View::draw(const Scene& scene) {
  if (!terminal_.has_cursor) return draw_lines(scene);
  return draw_frame(part_of(lay_out(scene, terminal_.columns), top_, terminal_.rows));
}

std::string View::finish(const Scene& scene, std::string_view mark) {
  std::string bytes;
  Scene last = scene;
  last.cursor = scene.text.size();
  if (!terminal_.has_cursor) {
    bytes = draw_lines(last);
  } else {
    const Frame frame = lay_out(last, terminal_.columns);
    if (frame.rows.size() > terminal_.rows) {
      bytes = move_to(0, 0);
      bytes += kEraseBelow;
      forget();
    }
    bytes += draw_frame(frame);
  }
  forget();
  return bytes + std::string(mark) + "\r\n";
}

std::string View::resize(std::size_t rows, std::size_t columns) {
  std::string bytes;
  if (terminal_.has_cursor) {
    shown_.column = columns + 1;
    bytes = move_to(0, 0);
    bytes += kEraseBelow;
    forget();
  }
  terminal_.rows = rows;
  terminal_.columns = columns;
  return bytes;
}

std::string View::clear() {
  forget();
  return terminal_.has_cursor ? "\x1b[H\x1b[2J" : "\r\n";
}

}  // namespace relay::repl::editor
