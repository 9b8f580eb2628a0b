#include "tests/support/golden_file.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <regex>

#include "tests/support/text_diff.h"

namespace relay::tests {

namespace {

constexpr std::string_view kExpect = "expect:";
constexpr std::string_view kExpectMatch = "expect-match:";
constexpr std::string_view kExpectError = "expect-error";
constexpr std::string_view kRight = "right:";
constexpr std::string_view kRightMatch = "right-match:";

bool is_space(char c) { return c == ' ' || c == '\t'; }

// The text of a comment that fills its line, without its slashes and one blank.
std::optional<std::string_view> comment_of(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  if (!line.starts_with("//") || line.starts_with("///")) return std::nullopt;
  line.remove_prefix(2);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// Not `///` either: such lines belong to the item after them.
bool is_code(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  return !line.empty() && !line.starts_with("//");
}

// `word:` or `word-word:` at the start of a comment; empty if it begins with no key.
std::string_view key_of(std::string_view comment) {
  std::size_t end = 0;
  while (end < comment.size() &&
         ((comment[end] >= 'a' && comment[end] <= 'z') || comment[end] == '-')) {
    ++end;
  }
  if (end == 0) return {};
  if (comment.substr(0, end) == kExpectError) return kExpectError;
  if (end == comment.size() || comment[end] != ':') return {};
  return end + 1 == comment.size() || comment[end + 1] == ' ' ? comment.substr(0, end + 1)
                                                              : std::string_view();
}

bool is_expectation(std::string_view comment) {
  const std::string_view key = key_of(comment);
  return key == kExpect || key == kExpectMatch || key == kExpectError;
}

bool is_rendering(std::string_view comment) { return comment.starts_with('|'); }

// Where `// expect: ...` after code begins; npos if it does not.
std::size_t trailing_expectation(std::string_view line) {
  if (!is_code(line)) return std::string_view::npos;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') in_string = !in_string;
    if (!in_string && line.substr(i, 2) == "//") {
      const auto comment = comment_of(line.substr(i));
      return comment && key_of(*comment) == kExpect ? i : std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

bool matches(std::string_view pattern, const std::string& text) {
  try {
    return std::regex_search(text, std::regex(std::string(pattern)));
  } catch (const std::regex_error&) {
    return false;
  }
}

// Writes the text anew, line by line; what names a line is filled in when all lines have a place.
class Rewriter {
 public:
  Rewriter(std::string_view text, const GoldenRun& run) : lines_(split_lines(text)), run_(run) {}

  std::string run() {
    std::size_t next = 0;
    int line = 1;
    const int last = static_cast<int>(lines_.size());
    while (line <= last) {
      if (next == run_.entries.size() || line < run_.entries[next].first_line) {
        copy_outside(line++);  // before the first entry: expectations here are met by nothing
        continue;
      }
      const Entry& entry = run_.entries[next++];
      const int end = next < run_.entries.size() ? run_.entries[next].first_line : last + 1;
      rewrite(entry, line, end);
      line = end;
    }
    return finish();
  }

 private:
  // What the file says about an entry now.
  struct Old {
    std::vector<std::string> comments;  // of each expectation that fills a line
    std::vector<bool> has_rendering;    // of each of these
    int place = 0;                      // line of the first
    int last_code = 0;                  // line
    int trailing = 0;                   // line of an expectation after code
    std::vector<bool> dropped;          // by line, from the entry's first: expectations
  };

  std::string_view at(int line) const { return lines_[static_cast<std::size_t>(line) - 1]; }

  void copy_outside(int line) {
    const auto comment = comment_of(at(line));
    if (!comment || !is_expectation(*comment)) copy(line);
  }

  Old read_old(int begin, int end) const {
    Old old;
    old.last_code = begin;
    bool after_error = false;
    for (int line = begin; line < end; ++line) {
      if (is_code(at(line))) old.last_code = line;
      if (trailing_expectation(at(line)) != std::string_view::npos) old.trailing = line;
      const auto comment = comment_of(at(line));
      const bool rendering = after_error && comment && is_rendering(*comment);
      const bool expectation = comment && is_expectation(*comment);
      if (rendering) old.has_rendering.back() = true;
      if (expectation) {
        if (old.comments.empty()) old.place = line;
        old.comments.emplace_back(*comment);
        old.has_rendering.push_back(false);
      }
      old.dropped.push_back(rendering || expectation);
      after_error = rendering || (expectation && key_of(*comment) == kExpectError);
    }
    return old;
  }

  void rewrite(const Entry& entry, int begin, int end) {
    const Old old = read_old(begin, end);
    const bool fits_behind = old.trailing > 0 && old.comments.empty() && entry.events.size() == 1 &&
                             !entry.events[0].is_error;
    // The new expectations stand where the old ones stood, but never amid the code.
    const int place = std::max(old.place, old.last_code + 1);
    for (int line = begin; line <= end; ++line) {
      if (line == place && !fits_behind) put_events(entry, old);
      if (line == end) break;
      if (old.dropped[static_cast<std::size_t>(line - begin)]) continue;
      copy(line);
      if (line == old.trailing) change_trailing(fits_behind ? &entry.events[0] : nullptr);
    }
  }

  // Replaces the expectation after the code of the last line by another or by nothing.
  void change_trailing(const Event* event) {
    std::string& text = out_.back().text;
    text.erase(trailing_expectation(text));
    if (event) {
      text += expectation(*event);
    } else {
      while (!text.empty() && is_space(text.back())) text.pop_back();
    }
  }

  static std::string expectation(const Event& event) {
    return event.text.empty() ? "// expect:" : "// expect: " + event.text;
  }

  void put_events(const Entry& entry, const Old& old) {
    for (std::size_t i = 0; i < entry.events.size(); ++i) {
      const Event& event = entry.events[i];
      const std::string_view before =
          i < old.comments.size() ? old.comments[i] : std::string_view();
      if (event.is_error) {
        out_.push_back({"", &event});
        if (i >= old.comments.size() || !old.has_rendering[i]) continue;
        for (const std::string& line : event.rendering) {
          out_.push_back({line.empty() ? "// |" : "// | " + line, nullptr});
        }
      } else if (key_of(before) == kExpectMatch &&
                 matches(before.substr(std::min(kExpectMatch.size() + 1, before.size())),
                         event.text)) {
        out_.push_back({"// " + std::string(before), nullptr});
      } else {
        out_.push_back({expectation(event), nullptr});
      }
    }
  }

  void copy(int line) {
    out_.push_back({std::string(at(line)), nullptr});
    new_line_[line] = static_cast<int>(out_.size());
  }

  std::string finish() {
    std::string text;
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const Event* error = out_[i].error;
      if (error) {
        const Place& place = error->place;
        const int here = static_cast<int>(i) + 1;
        text += "// " + std::string(kExpectError) + " " + describe(place, here) + " " + error->text;
        while (text.back() == ' ') text.pop_back();
      } else {
        text += out_[i].text;
      }
      text += '\n';
    }
    return text;
  }

  std::string relative(int line, int here) const {
    const auto found = new_line_.find(line);
    const int distance = (found == new_line_.end() ? line : found->second) - here;
    return "@" + std::string(distance < 0 ? "" : "+") + std::to_string(distance);
  }

  // `@-1:3-7`, or `@-3:5-@-1:2` over several lines, or `@<stdlib>/prelude.relay`.
  std::string describe(const Place& place, int here) const {
    if (place.line == 0) return "@" + place.elsewhere;
    const std::string first = relative(place.line, here) + ":" + std::to_string(place.column) + "-";
    if (place.last_line == place.line) return first + std::to_string(place.last_column);
    return first + relative(place.last_line, here) + ":" + std::to_string(place.last_column);
  }

  struct Line {
    std::string text;
    const Event* error;
  };
  const std::vector<std::string> lines_;
  const GoldenRun& run_;
  std::vector<Line> out_;
  std::map<int, int> new_line_;  // by old line
};

}  // namespace

GoldenOptions golden_options(std::string_view text, std::vector<std::string>& problems) {
  GoldenOptions options;
  const std::vector<std::string> lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto comment = comment_of(lines[i]);
    if (!comment) continue;
    const std::string_view key = key_of(*comment);
    const auto problem = [&](const std::string& what) {
      problems.push_back("line " + std::to_string(i + 1) + ": " + what);
    };
    if (key.empty() || key == kExpect || key == kExpectError || key == kRight) continue;
    std::string_view value = comment->substr(key.size());
    while (value.starts_with(' ')) value.remove_prefix(1);
    if (key == "skip:") {
      options.skip = value.empty() ? "no reason given" : value;
      if (value.empty()) problem("`skip:` needs a reason");
    } else if (key == "folder:") {
      options.folder = value;
      if (value.empty()) problem("`folder:` names a folder");
    } else if (key == "only:") {
      const std::string_view tier = value.substr(0, value.find(' '));
      options.lanes = tier == "interp";
      options.native = tier == "jit";
      if (tier != "interp" && tier != "jit") problem("`only:` names `interp` or `jit`");
      if (value.size() < tier.size() + 2) problem("`only:` needs a reason after the tier");
    } else if (key == kExpectMatch || key == kRightMatch) {
      try {
        (void)std::regex(std::string(value));
      } catch (const std::regex_error& error) {
        problem("`" + std::string(value) + "` is no regular expression: " + error.what());
      }
    } else {
      problem("`" + std::string(key) + "` is no key of a golden file");
    }
  }
  return options;
}

std::string when_mended(std::string_view text) {
  std::vector<std::string> lines = split_lines(text);
  std::vector<std::size_t> wrong;  // lines of expectations that no `right:` has replaced
  bool says_so = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto comment = comment_of(lines[i]);
    if (!comment) continue;
    if (is_expectation(*comment)) wrong.push_back(i);
    const std::string_view key = key_of(*comment);
    if (key != kRight && key != kRightMatch) continue;
    says_so = true;
    std::size_t count = 1;  // of these lines, which go with as many expectations
    for (; i + count < lines.size(); ++count) {
      const auto next = comment_of(lines[i + count]);
      if (!next || (key_of(*next) != kRight && key_of(*next) != kRightMatch)) break;
    }
    for (std::size_t k = 0; k < count; ++k) {
      std::string& right = lines[i + k];
      if (wrong.size() >= count) {
        const std::size_t place = wrong[wrong.size() - count + k];
        for (std::size_t below = place + 1; below < i && is_rendering(*comment_of(lines[below]));
             ++below) {
          lines[below] = "//";
        }
        lines[place] = "// expect" + right.substr(right.find("right") + 5);
      }
      right = "//";
    }
    wrong.clear();
    i += count - 1;
  }
  if (!says_so) return "";
  std::string whole;
  for (const std::string& line : lines) whole += line + '\n';
  return whole;
}

bool has_expectations(std::string_view text) {
  const std::vector<std::string> lines = split_lines(text);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    const auto comment = comment_of(line);
    return (comment && is_expectation(*comment)) ||
           trailing_expectation(line) != std::string_view::npos;
  });
}

std::string with_expectations(std::string_view text, const GoldenRun& run) {
  return Rewriter(text, run).run();
}

}  // namespace relay::tests
