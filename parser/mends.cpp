#include "parser/mends.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "parser/borrowed.h"
#include "parser/borrowed_text.h"
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

// The mark that may be missing behind what stands before the error.
void add_behind(std::string_view text, std::uint32_t at, std::string_view mark,
                std::string_view why, std::vector<Edit>& edits) {
  const std::size_t last = text.substr(0, at).find_last_not_of(" \t\r\n");
  const bool is_character = last != std::string_view::npos && (text[last] & 0x80) == 0;
  if (!is_character) return;
  const std::size_t begin = text.rfind('\n', last) + 1;  // 0 where there is none
  if (text.substr(begin, last + 1 - begin).find("//") != std::string_view::npos) return;
  const auto end = static_cast<std::uint32_t>(last + 1);
  constexpr std::size_t kLongest = 24;
  std::string_view shown = operand_before(text, end).text;
  if (shown.empty() || shown.size() > kLongest || shown.find('\n') != std::string_view::npos)
    shown = text.substr(last, 1);
  Edit edit{std::string(mark), end, fmt::format("help: put `{}` behind `{}`{}", mark, shown, why)};
  edit.is_marked = true;
  edits.push_back(std::move(edit));
}

bool is_first_on_line(std::string_view text, std::uint32_t at) {
  const std::size_t last = text.substr(0, at).find_last_not_of(" \t\r");
  return last != std::string_view::npos && text[last] == '\n';
}

// Does a statement end before the error, which shows without a `;`: with a block, as a `let`
// follows, or as a call follows a call?
bool ends_statement(std::string_view text, std::uint32_t at) {
  const std::size_t last = text.substr(0, at).find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return false;
  const Piece next = word_after(text, at);
  const bool is_call = !next.text.empty() && !is_digit(next.text.front()) &&
                       text.substr(next.end()).starts_with('(');
  return text[last] == '}' || next.text == "let" || (text[last] == ')' && is_call);
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
  const Piece before = word_before(text, at);
  const bool is_assignment = !before.text.empty() && begins_statement(text, before.begin);
  if (rest.starts_with('=') && !rest.starts_with("==") && !is_assignment)
    edits.push_back({"=", at, "help: to compare, write `==`"});
  add_comment(text, at, edits);
  if (is_first_on_line(text, at)) {
    if (expects("`,`"))
      add_behind(text, at, ",", "", edits);
    else if (!strict)  // lines of a block end with `;`, those of a file need not
      add_behind(text, at, ";", ", as lines of a block need it", edits);
  }
  if (expects("expected `;`"))
    edits.push_back({";", at, fmt::format("help: put `;` before {}", token)});
  else if (!strict && !expects("`,`") && ends_statement(text, at))
    add_behind(text, at, ";", "", edits);
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
  Onward,    // reading goes on to the next mistake on the same line
  Progress,  // reading goes on to the next mistake of the same kind, on a later line or at the end
  Mend       // there are fewer errors
};

// A text after an edit.
struct Edited {
  explicit Edited(std::string text) : source("", std::move(text)) {}
  lang::Source source;
  std::vector<lang::Diagnostic> errors;
};

std::unique_ptr<Edited> carried_out(const Edit& edit, std::string_view text, bool strict) {
  std::string mended(text);
  mended.replace(edit.at, edit.removed, edit.insertion);
  auto edited = std::make_unique<Edited>(std::move(mended));
  edited->errors = read_text(edited->source, strict && !edit.is_light, true).errors;
  return edited;
}

// What the edit does to the error with this index, of `count`.
Effect effect_of(const Edit& edit, const Edited& edited, std::size_t index, std::size_t count) {
  if (edited.errors.size() != count)
    return edited.errors.size() < count ? Effect::Mend : Effect::None;
  const std::uint32_t next = edited.errors[index].span.begin;
  const auto behind = static_cast<std::uint32_t>(edit.at + edit.insertion.size());
  if (next <= behind) return Effect::None;
  const std::string_view mended = edited.source.text();
  const std::string_view passed = mended.substr(behind, next - behind);
  const std::size_t line = passed.find_first_not_of(" \t\r\n");  // on which the error was
  const bool goes_on = next >= mended.size() || (line != std::string_view::npos &&
                                                 passed.find('\n', line) != std::string_view::npos);
  return goes_on ? Effect::Progress : Effect::Onward;
}

// The edits that mend an error, or make progress where nothing mends it. Where one alone leads only
// to the next mistake on the line, as in `sin x + cos x`, others follow, `depth` of them at most.
std::vector<Edit> mends_of(const lang::Diagnostic& error, std::string_view text, bool strict,
                           std::size_t index, std::size_t count, int depth) {
  std::vector<Edit> progress, several;
  bool has_gone_on = false;
  for (Edit& edit : candidates(error, text, strict)) {
    const auto edited = carried_out(edit, text, strict);
    switch (effect_of(edit, *edited, index, count)) {
      case Effect::Mend:
        return {std::move(edit)};
      case Effect::Progress:
        if (progress.empty()) progress = {std::move(edit)};
        break;
      case Effect::Onward:
        if (depth == 0 || std::exchange(has_gone_on, true)) break;
        several =
            mends_of(edited->errors[index], edited->source.text(), strict, index, count, depth - 1);
        if (!several.empty()) several.insert(several.begin(), std::move(edit));
        break;
      case Effect::None:
        break;
    }
  }
  return progress.empty() ? several : progress;
}

}  // namespace

void add_mends(SyntaxTree& tree) {
  constexpr int kMostFurther = 3;
  const std::string_view text = tree.source->text();
  if (text.size() > kLongestText) return;
  const std::size_t before = tree.errors.size();
  for (std::size_t i = 0; i < std::min(before, kMostMends); ++i) {
    lang::Diagnostic& error = tree.errors[i];
    if (error.kind != lang::DiagnosticKind::SyntaxError || error.span.begin > text.size()) continue;
    const std::size_t notes = error.notes.size();
    const auto mends = mends_of(error, text, tree.strict, i, before, kMostFurther);
    for (const Edit& edit : mends) {
      if (edit.help.empty() || std::find(error.notes.begin() + static_cast<std::ptrdiff_t>(notes),
                                         error.notes.end(), edit.help) != error.notes.end())
        continue;
      error.note(edit.help);
    }
    if (mends.size() == 1 && mends[0].is_marked)
      error.label({tree.source, mends[0].at - 1, mends[0].at},
                  fmt::format("`{}` is missing behind this", mends[0].insertion));
    if (error.notes.size() > notes || tree.strict) continue;
    if (const std::string_view help = help_for_borrowed(error, text); !help.empty())
      error.note(std::string(help));
  }
}

}  // namespace relay::parser
