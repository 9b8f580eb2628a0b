#include "tests/support/text_diff.h"

#include <algorithm>
#include <cstddef>

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

struct Edit {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

using Lines = std::vector<std::string>;

// The shortest list of edits, by the longest common subsequence.
std::vector<Edit> edits_between(const Lines& a, const Lines& b) {
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t n = a.size() - head - tail;
  const std::size_t m = b.size() - head - tail;
  std::vector<std::vector<std::size_t>> common(n + 1, std::vector<std::size_t>(m + 1, 0));
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      common[i][j] = a[head + i] == b[head + j] ? common[i + 1][j + 1] + 1
                                                : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < head; ++i) edits.push_back({' ', a[i]});
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && a[head + i] == b[head + j]) {
      edits.push_back({' ', a[head + i++]});
      ++j;
    } else if (i < n && (j == m || common[i + 1][j] >= common[i][j + 1])) {
      edits.push_back({'-', a[head + i++]});
    } else {
      edits.push_back({'+', b[head + j++]});
    }
  }
  for (std::size_t k = a.size() - tail; k < a.size(); ++k) edits.push_back({' ', a[k]});
  return edits;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name) {
  const Lines a = split_lines(before);
  const Lines b = split_lines(after);
  if (a == b) return "";
  const std::vector<Edit> edits = edits_between(a, b);
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
