#include "repl/entry_lines.h"

#include <algorithm>

#include "interp/stack.h"
#include "lang/diagnostic.h"
#include "parser/parse.h"
#include "repl/command.h"

namespace relay::repl {

namespace {

using parser::Completeness;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// A text that is not looked at to its end, as somebody interrupts, is complete: whoever runs it
// says so.
Completeness completeness_of(const std::string& text) {
  auto result = Completeness::Complete;
  interp::EvaluationStack::instance().run([&] {
    if (const auto known = lang::capture([&] { return parser::completeness(text); }))
      result = *known;
  });
  return result;
}

// Does the text end with an `if` that may have an `else`?
bool takes_else(const std::string& text) {
  return text.find("if") != std::string::npos &&
         completeness_of(text + "\nelse {") == Completeness::Incomplete;
}

bool begins_with_else(std::string_view line) {
  constexpr std::string_view kElse = "else";
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.starts_with(kElse) &&
         (line.size() == kElse.size() ||
          std::string_view(" \t\r{/").find(line[kElse.size()]) != std::string_view::npos);
}

}  // namespace

void EntryLines::abandon() {
  entry_.clear();
  blank_run_ = 0;
  waits_for_else_ = false;
  is_broken_ = false;
}

bool EntryLines::ends_before(std::string_view line) const {
  return (waits_for_else_ && !begins_with_else(line)) || (is_broken_ && line.starts_with(':')) ||
         parser::is_cut_by(entry_, line);
}

std::string EntryLines::take() {
  std::string entry = std::move(entry_);
  abandon();
  // Empty lines that ended the entry are no part of it.
  entry.erase(entry.find_last_not_of(" \t\r\n") + 1);
  return entry;
}

std::optional<std::string> EntryLines::finish() {
  if (entry_.empty()) return std::nullopt;
  return take();
}

std::vector<std::string> EntryLines::feed(std::string_view line, const HasMore& has_more) {
  std::vector<std::string> complete;
  if (ends_before(line)) complete.push_back(take());
  const bool blank = is_blank(line);
  if (entry_.empty()) {
    if (blank) return complete;
    if (as_command(line)) {
      complete.emplace_back(line);
      return complete;
    }
  }
  blank_run_ = blank ? blank_run_ + 1 : 0;
  if (!entry_.empty()) entry_ += '\n';
  entry_ += line;
  const bool forced = blank && blank_run_ == blank_lines_;
  const auto known = forced ? Completeness::Complete : completeness_of(entry_);
  waits_for_else_ = false;
  if (known == Completeness::Incomplete) return complete;
  is_broken_ = known == Completeness::Broken && has_more && has_more();
  waits_for_else_ = !forced && !is_broken_ && takes_else(entry_);
  if (!is_broken_ && !waits_for_else_) complete.push_back(take());
  return complete;
}

namespace {

// Is it one text to the parser: no commands, and no definition that begins inside of brackets?
bool is_plain(std::string_view block) {
  for (std::size_t at = 0; at < block.size();) {
    const std::size_t end = std::min(block.find('\n', at), block.size());
    const std::string_view line = block.substr(at, end - at);
    if (as_command(line) || parser::is_cut_by(block.substr(0, at), line)) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

// What the parser says of the whole is what line by line would come to, in one go.
bool is_complete_block(std::string_view block, bool has_more) {
  if (is_plain(block)) {
    const std::string text(block.substr(0, block.find_last_not_of(" \t\n") + 1));
    const bool ends_with_empty_line = text.size() != block.size() && block.back() == '\n';
    const Completeness known = completeness_of(text);
    if (known == Completeness::Incomplete) return false;
    if (known == Completeness::Complete) return ends_with_empty_line || !takes_else(text);
  }
  EntryLines lines(0);
  for (bool is_last = false; !is_last;) {
    const std::size_t end = block.find('\n');
    is_last = end == std::string_view::npos;
    lines.feed(block.substr(0, end), [&] { return !is_last || has_more; });
    if (!is_last) block.remove_prefix(end + 1);
  }
  return lines.is_empty();
}

}  // namespace relay::repl
