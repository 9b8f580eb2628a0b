#include "tests/support/text_diff.h"

#include <algorithm>
#include <cstddef>

#include "repl/line_diff.h"

namespace relay::tests {

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

namespace {

constexpr std::size_t kContext = 3;

using Edit = repl::LineEdit;
using Lines = std::vector<std::string>;

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name) {
  const Lines a = split_lines(before);
  const Lines b = split_lines(after);
  if (a == b) return "";
  const std::vector<Edit> edits = repl::line_edits(a, b);
  std::string text = "--- " + std::string(before_name) + "\n+++ " + std::string(after_name) + "\n";
  std::size_t old_line = 1;
  std::size_t new_line = 1;
  std::size_t shown = 0;  // edits before this one have been dealt with
  const auto advance = [&](const Edit& edit) {
    old_line += edit.sign != '+';
    new_line += edit.sign != '-';
  };
  for (std::size_t at = 0; at < edits.size(); ++at) {
    if (edits[at].sign == ' ') continue;
    const std::size_t begin = std::max(shown, at > kContext ? at - kContext : 0);
    std::size_t end = at;
    for (std::size_t k = at; k < edits.size() && k <= end + 2 * kContext; ++k) {
      if (edits[k].sign != ' ') end = k;
    }
    end = std::min(edits.size(), end + kContext + 1);
    for (; shown < begin; ++shown) advance(edits[shown]);
    const std::size_t old_start = old_line;
    const std::size_t new_start = new_line;
    std::string body;
    for (; shown < end; ++shown) {
      advance(edits[shown]);
      body += edits[shown].sign + std::string(edits[shown].line) + '\n';
    }
    text += "@@ -" + std::to_string(old_start) + ',' + std::to_string(old_line - old_start) + " +" +
            std::to_string(new_start) + ',' + std::to_string(new_line - new_start) + " @@\n" + body;
    at = end - 1;
  }
  return text;
}

}  // namespace relay::tests
