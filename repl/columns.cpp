#include "repl/columns.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "lang/utf8.h"

namespace relay::repl {

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

std::string shortened(std::string_view text, std::size_t width) {
  std::string result;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(lang::code_point_length(text.substr(at)), 1);
    if (++count == width && at + length < text.size()) return result + "…";
    result += text[at] == '\n' ? " " : std::string(text.substr(at, length));
    at += length;
  }
  return result;
}

std::string filled(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, lang::code_points(text)), ' ');
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t length = lang::code_points(word);
    const bool fits = column == 0 || column + 1 + length <= width;
    if (column > 0) result += fits ? ' ' : '\n';
    column = fits && column > 0 ? column + 1 + length : length;
    result += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string in_columns(const std::vector<Row>& rows, std::size_t most, std::size_t width,
                       std::string_view indent) {
  std::size_t longest = 0;
  for (const Row& row : rows) {
    const std::size_t length = lang::code_points(row.name);
    if (length <= most) longest = std::max(longest, length);
  }
  std::string text;
  for (const Row& row : rows) {
    const std::string line = fmt::format("{}{}  {}", indent, filled(row.name, longest), row.text);
    text += shortened(line.substr(0, line.find_last_not_of(' ') + 1), width) + "\n";
  }
  return text;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string duration(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

}  // namespace relay::repl
