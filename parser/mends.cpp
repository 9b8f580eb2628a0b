#include "parser/mends.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "parser/borrowed.h"
#include "parser/messages.h"
#include "parser/read.h"

namespace relay::parser {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 10;
constexpr std::size_t kMostMends = 20;

// `# ...`, also behind code; a text that begins with `#` is taken for a strict one.
void add_comment(std::string_view text, std::uint32_t at, std::vector<Edit>& edits) {
  const auto is_mark = [&](std::uint32_t i) { return i < text.size() && text[i] == '#'; };
  std::uint32_t mark = at;  // perhaps the end of the text
  while (mark > 0 && !is_mark(mark) && (mark == at || text[mark - 1] == ' ' || is_mark(mark - 1)))
    --mark;
  if (!is_mark(mark)) return;
  std::string all(text);
  all.replace(mark, 1, "//");
  // All that have a line to themselves, as one is seldom alone.
  for (std::size_t line = 0; line < all.size();) {
    const std::size_t first = all.find_first_not_of(" \t", line);
    if (first != std::string::npos && all[first] == '#') all.replace(first, 1, "//");
    const std::size_t next = all.find('\n', line);
    if (next == std::string::npos) break;
    line = next + 1;
  }
  edits.push_back({std::move(all), 0, "help: comments begin with `//`",
                   static_cast<std::uint32_t>(text.size()), true});
}

// Where an error is the first thing of a line: the mark that may be missing behind the line before.
void add_behind_line(std::string_view text, std::uint32_t at, std::string_view mark,
                     std::string_view why, std::vector<Edit>& edits) {
  const std::size_t last = text.substr(0, at).find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return;
  if (text.substr(last, at - last).find('\n') == std::string_view::npos) return;
  const std::size_t begin = text.rfind('\n', last) + 1;  // 0 where there is none
  const std::string_view line = text.substr(begin, last + 1 - begin);
  if (line.find("//") != std::string_view::npos) return;
  constexpr std::size_t kShown = 30;
  std::string_view shown = line.substr(line.find_first_not_of(" \t"));
  const bool is_cut = shown.size() > kShown;
  if (is_cut) shown.remove_prefix(shown.size() - kShown);
  const auto is_in_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
  };
  while (is_cut && !shown.empty() && is_in_character(shown[0])) shown.remove_prefix(1);
  edits.push_back(
      {std::string(mark), static_cast<std::uint32_t>(last + 1),
       fmt::format("help: put `{}` behind `{}{}`{}", mark, is_cut ? "…" : "", shown, why)});
}

// What may have been meant, likely things first.
std::vector<Edit> candidates(const lang::Diagnostic& error, std::string_view text, bool strict) {
  const std::uint32_t at = error.span.begin;
  const std::string_view rest = text.substr(at);
  const std::string token = describe_token(text, at);
  const auto expects = [&](std::string_view what) {
    return error.message.find(what) != std::string::npos;
  };
  std::vector<Edit> edits;
  if (strict && rest.size() > 1 && rest[0] == '-' && is_digit(rest[1])) {
    edits.push_back({" ", at + 1,
                     "help: for a subtraction put a space behind `-`: right before a digit it "
                     "belongs to the number"});
  }
  if (!strict) add_borrowed(error, text, at, edits);
  if (rest.starts_with('=') && !rest.starts_with("=="))
    edits.push_back({"=", at, "help: to compare, write `==`"});
  add_comment(text, at, edits);
  if (expects("`,`")) {
    add_behind_line(text, at, ",", "", edits);
  } else if (!strict) {  // lines of a block end with `;`, those of a file need not
    add_behind_line(text, at, ";", ", as lines of a block need it", edits);
  }
  if (expects("expected `;`"))
    edits.push_back({";", at, fmt::format("help: put `;` before {}", token)});
  // `f"…"` is one thing elsewhere.
  const bool is_prefixed = rest.starts_with('"') && at > 0 && text[at - 1] == 'f';
  for (const std::string_view mark : {",", ")", "]", "}"}) {
    if (!rest.empty() && !is_prefixed && expects(fmt::format("`{}`", mark)))
      edits.push_back(
          {std::string(mark), at, fmt::format("help: put `{}` before {}", mark, token)});
  }
  return edits;
}

enum class Effect {
  None,
  Progress,  // reading goes on to the next mistake of the same kind, on a later line or at the end
  Mend       // there are fewer errors
};

// What the edit does to the error with this index, of `count`.
Effect effect_of(const Edit& edit, std::string_view text, bool strict, std::size_t index,
                 std::size_t count) {
  std::string mended(text);
  mended.replace(edit.at, edit.removed, edit.insertion);
  const lang::Source source("", mended);
  const auto errors = read_text(source, strict && !edit.is_light, true).errors;
  if (errors.size() != count) return errors.size() < count ? Effect::Mend : Effect::None;
  const std::uint32_t next = errors[index].span.begin;
  const auto behind = static_cast<std::uint32_t>(edit.at + edit.insertion.size());
  if (next <= behind) return Effect::None;
  const std::string_view passed = std::string_view(mended).substr(behind, next - behind);
  const std::size_t line = passed.find_first_not_of(" \t\r\n");  // on which the error was
  const bool goes_on = next >= mended.size() || (line != std::string_view::npos &&
                                                 passed.find('\n', line) != std::string_view::npos);
  return goes_on ? Effect::Progress : Effect::None;
}

}  // namespace

void add_mends(SyntaxTree& tree) {
  const std::string_view text = tree.source->text();
  if (text.size() > kLongestText) return;
  const std::size_t before = tree.errors.size();
  for (std::size_t i = 0; i < std::min(before, kMostMends); ++i) {
    lang::Diagnostic& error = tree.errors[i];
    if (error.kind != lang::DiagnosticKind::SyntaxError || error.span.begin > text.size()) continue;
    const std::size_t notes = error.notes.size();
    std::string help;  // of what makes progress, where nothing mends it
    for (const Edit& edit : candidates(error, text, tree.strict)) {
      const Effect effect = effect_of(edit, text, tree.strict, i, before);
      if (effect == Effect::Mend || (effect == Effect::Progress && help.empty())) help = edit.help;
      if (effect == Effect::Mend) break;
    }
    if (!help.empty()) error.note(std::move(help));
    if (error.notes.size() > notes || tree.strict) continue;
    if (const std::string_view help = help_for_borrowed(error, text); !help.empty())
      error.note(std::string(help));
  }
}

}  // namespace relay::parser
