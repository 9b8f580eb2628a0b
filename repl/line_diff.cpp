#include "repl/line_diff.h"

#include <algorithm>
#include <cstddef>

namespace relay::repl {

namespace {

constexpr std::size_t kMostCompared = 4'000'000;
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kPlain = "\x1b[0m";

}  // namespace

std::vector<LineEdit> line_edits(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after) {
  std::size_t head = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < before.size() - head && tail < after.size() - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t n = before.size() - head - tail;
  const std::size_t m = after.size() - head - tail;
  const bool is_small = n == 0 || m <= kMostCompared / n;
  std::vector<std::vector<std::size_t>> common;
  if (is_small) {
    common.assign(n + 1, std::vector<std::size_t>(m + 1, 0));
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;) {
        common[i][j] = before[head + i] == after[head + j]
                           ? common[i + 1][j + 1] + 1
                           : std::max(common[i + 1][j], common[i][j + 1]);
      }
    }
  }
  std::vector<LineEdit> edits;
  for (std::size_t i = 0; i < head; ++i) edits.push_back({' ', before[i]});
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < n || j < m) {
    if (is_small && i < n && j < m && before[head + i] == after[head + j]) {
      edits.push_back({' ', before[head + i++]});
      ++j;
    } else if (i < n && (!is_small || j == m || common[i + 1][j] >= common[i][j + 1])) {
      edits.push_back({'-', before[head + i++]});
    } else {
      edits.push_back({'+', after[head + j++]});
    }
  }
  for (std::size_t k = before.size() - tail; k < before.size(); ++k)
    edits.push_back({' ', before[k]});
  return edits;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

std::string shown_difference(std::string_view before, std::string_view after, bool has_colours,
                             std::size_t context) {
  const std::vector<std::string> old_lines = lines_of(before);
  const std::vector<std::string> new_lines = lines_of(after);
  const std::vector<LineEdit> edits = line_edits(old_lines, new_lines);
  std::string text;
  bool is_cut = false;
  for (std::size_t at = 0; at < edits.size(); ++at) {
    const auto [sign, line] = edits[at];
    const std::size_t first = at > context ? at - context : 0;
    const std::size_t last = std::min(edits.size(), at + context + 1);
    const bool is_near = std::any_of(edits.begin() + static_cast<std::ptrdiff_t>(first),
                                     edits.begin() + static_cast<std::ptrdiff_t>(last),
                                     [](const LineEdit& each) { return each.sign != ' '; });
    if (!is_near) {
      if (!is_cut) text += "  …\n";
      is_cut = true;
      continue;
    }
    is_cut = false;
    const std::string shown = std::string(1, sign) + " " + std::string(line);
    if (has_colours && sign != ' ') {
      text += std::string(sign == '-' ? kRed : kGreen) + shown + std::string(kPlain) + "\n";
    } else {
      text += shown + "\n";
    }
  }
  return text;
}

}  // namespace relay::repl
