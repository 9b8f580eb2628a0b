#include "parser/mends.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "parser/messages.h"
#include "parser/read.h"

namespace relay::parser {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 10;
constexpr std::size_t kMostMends = 20;

struct Edit {
  std::string insertion;
  std::uint32_t at = 0;
  std::string help;
  std::uint32_t removed = 0;  // bytes at `at` that go
  bool is_light = false;      // the text it makes is of the light notation
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// --- What other languages have ---

// A stretch of the text.
struct Piece {
  std::uint32_t begin = 0;
  std::string_view text;
  std::uint32_t end() const { return begin + static_cast<std::uint32_t>(text.size()); }
};

// The word, number or name with dots that ends before `at`, blanks between them left out.
Piece word_before(std::string_view text, std::uint32_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  std::uint32_t begin = at;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  return {begin, text.substr(begin, at - begin)};
}

Piece word_after(std::string_view text, std::uint32_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  std::uint32_t end = at;
  while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
  return {at, text.substr(at, end - at)};
}

// `for i in 0..n` and `for i in range(n)`: the text of `n`, and where the whole ends.
std::optional<Edit> range_as_extent(std::string_view text, std::uint32_t in) {
  const std::uint32_t from = word_after(text, in + 2).begin;
  const std::string_view rest = text.substr(from);
  const bool is_call = rest.starts_with("range(");
  if (!is_call && !rest.starts_with("0..")) return std::nullopt;
  const std::size_t begin = is_call ? 6 : 3;
  const std::size_t end = rest.find_first_of(is_call ? ")" : " {", begin);
  if (end == std::string_view::npos || end == begin) return std::nullopt;
  const std::string extent(rest.substr(begin, end - begin));
  if (extent.find_first_of(",=.\n") != std::string::npos) return std::nullopt;
  const auto removed = static_cast<std::uint32_t>(from - in + end + (is_call ? 1 : 0));
  const Piece index = word_before(text, in);
  return Edit{"< " + extent, in,
              fmt::format("help: an index runs from 0 to below its extent: `for {} < {}`",
                          index.text, extent),
              removed};
}

std::optional<Edit> power(std::string_view text, std::uint32_t sign, std::uint32_t size) {
  const Piece base = word_before(text, sign);
  const Piece exponent = word_after(text, sign + size);
  if (base.text.empty() || exponent.text.empty()) return std::nullopt;
  const std::string call = fmt::format("power({}, {})", base.text, exponent.text);
  return Edit{call, base.begin, fmt::format("help: the power is `{}`", call),
              exponent.end() - base.begin};
}

// `x = e` and `f(x) = e`, where an item or a statement begins.
std::optional<Edit> binding(std::string_view text, std::uint32_t equals) {
  std::uint32_t end = equals;
  while (end > 0 && text[end - 1] == ' ') --end;
  const bool is_call = end > 0 && text[end - 1] == ')';
  if (is_call) {
    const std::size_t open = text.rfind('(', end - 1);
    if (open == std::string_view::npos) return std::nullopt;
    end = static_cast<std::uint32_t>(open);
  }
  const Piece name = word_before(text, end);
  if (name.text.empty() || is_digit(name.text.front())) return std::nullopt;
  std::uint32_t before = name.begin;
  while (before > 0 && text[before - 1] == ' ') --before;
  const std::string_view starts = "\n;{";
  if (before > 0 && starts.find(text[before - 1]) == std::string_view::npos) return std::nullopt;
  if (is_call) return Edit{"def ", name.begin, "help: a definition begins with `def`"};
  return Edit{"let ", name.begin, "help: a binding begins with `let`"};
}

// Words of other languages; the error stands at the word, or at what follows it.
struct Borrowed {
  std::string_view word;
  std::string_view ours;
  std::string_view help;
  bool is_at_error;
};
constexpr std::array kBorrowed = {
    Borrowed{"elif", "else if", "help: write `else if`", true},
    Borrowed{"and", "&&", "help: write `&&`", true},
    Borrowed{"or", "||", "help: write `||`", true},
    Borrowed{"not", "!", "", false},
    Borrowed{"return", "", "help: the last expression is the value; there is no `return`", false},
    Borrowed{"function", "def", "help: a definition begins with `def`", false},
    Borrowed{"fn", "def", "help: a definition begins with `def`", false},
    Borrowed{"var", "let", "help: a binding begins with `let`", false},
    Borrowed{"const", "let", "help: a binding begins with `let`", false},
    Borrowed{"val", "let", "help: a binding begins with `let`", false},
};

void add_borrowed(std::string_view text, std::uint32_t at, std::vector<Edit>& edits) {
  const std::string_view rest = text.substr(at);
  const Piece here = word_after(text, at);
  const Piece before = word_before(text, at);
  if (rest.starts_with("in ")) {
    if (auto edit = range_as_extent(text, at)) edits.push_back(std::move(*edit));
  }
  if (rest.starts_with('*') && at > 0 && text[at - 1] == '*') {
    if (auto edit = power(text, at - 1, 2)) edits.push_back(std::move(*edit));
  }
  if (rest.starts_with('^')) {
    if (auto edit = power(text, at, 1)) edits.push_back(std::move(*edit));
  }
  if (rest.starts_with(':') && at > 0 && text[at - 1] == ')')
    edits.push_back({" =", at, "help: the value of a function stands behind `=`, or in braces", 1});
  for (const Borrowed& each : kBorrowed) {
    const Piece& piece = each.is_at_error ? here : before;
    if (piece.text != each.word) continue;
    // `!x` has no blank, and what stands for nothing leaves none.
    const bool joins = each.ours.empty() || each.ours == "!";
    const std::uint32_t end = joins && !each.is_at_error ? at : piece.end();
    const std::string help = each.ours == "!" ? fmt::format("help: `!` negates: `!{}`", here.text)
                                              : std::string(each.help);
    edits.push_back({std::string(each.ours), piece.begin, help, end - piece.begin});
  }
}

// `# ...`, also behind code; a text that begins with `#` is taken for a strict one.
void add_comment(std::string_view text, std::uint32_t at, std::vector<Edit>& edits) {
  std::uint32_t mark = at;
  while (mark > 0 && text[mark] != '#' &&
         (mark == at || text[mark - 1] == ' ' || text[mark - 1] == '#'))
    --mark;
  if (text[mark] != '#') return;
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
  if (rest.starts_with('=') && !rest.starts_with("==")) {
    if (auto edit = binding(text, at); edit && !strict) edits.push_back(std::move(*edit));
    edits.push_back({"=", at, "help: to compare, write `==`"});
  }
  if (!strict) add_borrowed(text, at, edits);
  add_comment(text, at, edits);
  for (const std::string_view mark : {",", ")", "]", "}"}) {
    if (expects(fmt::format("`{}`", mark)))
      edits.push_back(
          {std::string(mark), at, fmt::format("help: put `{}` before {}", mark, token)});
  }
  return edits;
}

std::size_t count_errors(const std::string& text, bool strict) {
  const lang::Source source("", text);
  return read_text(source, strict, true).errors.size();
}

}  // namespace

void add_mends(SyntaxTree& tree) {
  const std::string_view text = tree.source->text();
  if (text.size() > kLongestText) return;
  const std::size_t before = tree.errors.size();
  for (std::size_t i = 0; i < std::min(before, kMostMends); ++i) {
    lang::Diagnostic& error = tree.errors[i];
    if (error.kind != lang::DiagnosticKind::SyntaxError || error.span.begin >= text.size())
      continue;
    for (const Edit& edit : candidates(error, text, tree.strict)) {
      std::string mended(text);
      mended.replace(edit.at, edit.removed, edit.insertion);
      if (count_errors(mended, tree.strict && !edit.is_light) >= before) continue;
      error.note(edit.help);
      break;
    }
  }
}

}  // namespace relay::parser
