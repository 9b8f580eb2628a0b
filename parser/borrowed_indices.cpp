// Index notation with a slip in its head: `sum(i) { … }`, `for i j { … }`, `sum i x[i]`, and words
// that are no reductions: `mean i { … }`.

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "lang/familiar_names.h"
#include "lang/letters.h"
#include "lang/op.h"
#include "parser/borrowed_text.h"
#include "parser/scan.h"

namespace relay::parser {
namespace {

using Found = std::optional<Edit>;

bool is_head(std::string_view word) { return word == "for" || grammar::is_reduction(word); }

bool is_name(std::string_view word) {
  return !word.empty() && !is_digit(word.front()) && word.find('.') == std::string_view::npos &&
         !grammar::is_keyword(word, false);
}

std::uint32_t skip_space(std::string_view text, std::uint32_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
  return at;
}

// Where the bracket at `open` is closed; the end of the text where it is not.
std::uint32_t closer_of(std::string_view text, std::uint32_t open) {
  std::uint32_t at = open;
  do {
    at = expression_end(text, at + 1, "");
  } while (at < text.size() && (text[at] == '\n' || text[at] == ';'));
  return at;
}

// An index with its extent, if it has one: `i`, `i < n`, `i in 0..n`, `i in range(n)`. Empty where
// it is something else.
std::string index_of(std::string_view written) {
  const Piece name = word_after(written, 0);
  const auto size = static_cast<std::uint32_t>(written.size());
  const std::string rest = trimmed(written, name.end(), size);
  if (!is_name(name.text)) return {};
  if (rest.empty()) return std::string(name.text);
  if (rest.starts_with('<') && !rest.starts_with("<=")) return std::string(written);
  std::string extent;
  if (rest.starts_with("in range(") && rest.ends_with(')')) {
    extent = rest.substr(9, rest.size() - 10);
  } else if (rest.starts_with("in 0..")) {
    extent = rest.substr(6);
  }
  if (extent.empty() || extent.find_first_of(",=.\n") != std::string::npos) return {};
  return fmt::format("{} < {}", name.text, extent);
}

// `i, j < n` of what stands in parentheses; empty where one is no index.
std::string indices_of(std::string_view written) {
  std::string all;
  for (std::uint32_t at = 0; at < written.size();) {
    const std::uint32_t end = expression_end(written, at, ",");
    const std::string index = index_of(trimmed(written, at, end));
    if (index.empty()) return {};
    all += (all.empty() ? "" : ", ") + index;
    at = end + 1;
  }
  return all;
}

// A form as a help shows it: whole where that is short and has no slip of the same kind inside.
std::string shown(std::string_view before, std::string_view body, std::string_view behind) {
  constexpr std::size_t kLongest = 60;
  const bool is_whole = before.size() + body.size() + behind.size() <= kLongest &&
                        body.find('\n') == std::string_view::npos &&
                        body.find(") {") == std::string_view::npos;
  return fmt::format("{}{}{}", before, is_whole ? body : "…", behind);
}

// What stands before and behind the body of a form that begins with `word`, and what is said of it.
struct Form {
  std::string before;
  std::string behind;
  std::string help;
};

// Does a function of that name take one tensor, along an axis?
bool reduces(std::string_view word) {
  if (word == "std" || word == "var" || word == "norm") return true;  // of the prelude
  const lang::OpDef* op = lang::OpRegistry::instance().find(word);
  return op && op->inputs.size() == 1 &&
         std::any_of(op->attrs.begin(), op->attrs.end(),
                     [](const lang::AttrSpec& attr) { return attr.name == "axis"; });
}

// Words for reductions that have other names here, or are no reductions. The first are those whose
// own names are of something else.
std::optional<Form> form_of(std::string_view word, const std::string& indices) {
  struct Other {
    std::string_view theirs;
    std::string_view ours;
  };
  constexpr std::array kOthers = {Other{"maximum", "max"}, Other{"minimum", "min"},
                                  Other{"total", "sum"},   Other{"exists", "any"},
                                  Other{"forall", "all"},  Other{"every", "all"}};
  if (is_head(word))
    return Form{fmt::format("{} {} {{ ", word, indices), " }",
                "help: indices stand without parentheses: `{}`"};
  if (word == "count")
    return Form{fmt::format("sum {} {{ if ", indices), " { 1 } else { 0 } }",
                "help: a count is a sum of ones: `{}`"};
  const auto* other = std::find_if(kOthers.begin(), kOthers.end(),
                                   [&](const Other& each) { return each.theirs == word; });
  if (other != kOthers.end()) word = other->ours;
  const lang::FamiliarName* familiar = lang::find_familiar(word);
  if (familiar && !familiar->ours.empty()) word = familiar->ours;
  if (is_head(word))
    return Form{fmt::format("{} {} {{ ", word, indices), " }", "help: the reduction is `{}`"};
  if (!reduces(word)) return std::nullopt;
  return Form{fmt::format("{}(for {} {{ ", word, indices), " })",
              fmt::format("help: `{}` takes a tensor, which `for` makes: `{{}}`", word)};
}

// `sum(i) { … }`, `mean(i) { … }` and `mean i { … }`: the word, then the indices in the form that
// they have here, then the brace.
Found with_head(std::string_view text, const Piece& word, const std::string& indices,
                std::uint32_t brace) {
  const std::uint32_t close = closer_of(text, brace);
  const std::optional<Form> form = form_of(word.text, indices);
  if (!form || indices.empty() || close == text.size()) return std::nullopt;
  const std::string body = trimmed(text, brace + 1, close);
  const std::string help =
      fmt::format(fmt::runtime(form->help), shown(form->before, body, form->behind));
  // The brace and what it holds stays where it can, as there may be another mistake in it.
  if (form->behind == " }")
    return replaced(word.begin, brace + 1, form->before.substr(0, form->before.size() - 1), help);
  if (body.find(';') != std::string::npos && word.text == "count") return std::nullopt;
  return replaced(word.begin, close + 1, form->before + body + form->behind, help);
}

// Does the word stand in the text?
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if (word_after(text, static_cast<std::uint32_t>(at)).text == word &&
        lang::word_length_at_end(text.substr(0, at)) == 0)
      return true;
  }
  return false;
}

// `sum i < 2 x[i]`, `for i: x[i]` and `for (i) x[i]`, with the error behind the indices, which have
// here the form that is given.
Found with_braces(std::string_view text, const Piece& head, const std::string& indices,
                  std::uint32_t at) {
  std::uint32_t begin = at;
  for (const std::string_view sign : {"=>", "->", ":", "do "}) {
    if (text.substr(at).starts_with(sign)) begin = at + static_cast<std::uint32_t>(sign.size());
  }
  begin = skip_space(text, begin);
  const std::uint32_t end = expression_end(text, begin, ",");
  const std::string body(without_parentheses(trimmed(text, begin, end)));
  if (indices.empty() || !has_word(body, word_after(indices, 0).text)) return std::nullopt;
  const std::string before = fmt::format("{} {} {{ ", head.text, indices);
  const std::string_view what = head.text == "for" ? "the element" : "what is reduced";
  return replaced(head.begin, end, before + body + " }",
                  fmt::format("help: {} stands in braces: `{}`", what, shown(before, body, " }")));
}

// The indices stand in the parentheses at `open`.
Found with_parentheses(std::string_view text, std::uint32_t open) {
  const Piece word = word_before(text, open);
  const std::uint32_t close = closer_of(text, open);
  if (word.text.empty() || close == text.size()) return std::nullopt;
  const std::uint32_t brace = skip_space(text, close + 1);
  const std::string indices = indices_of(text.substr(open + 1, close - open - 1));
  if (text.substr(brace).starts_with('{')) return with_head(text, word, indices, brace);
  return is_head(word.text) ? with_braces(text, word, indices, brace) : std::nullopt;
}

// `mean i { … }`, with the error at `i`.
Found with_other_word(std::string_view text, std::uint32_t at) {
  const Piece word = word_before(text, at);
  std::uint32_t brace = at;
  while (brace < text.size() && std::string_view("{}();\n").find(text[brace]) == std::string::npos)
    ++brace;
  if (word.text.empty() || is_head(word.text) || !text.substr(brace).starts_with('{'))
    return std::nullopt;
  return with_head(text, word, indices_of(trimmed(text, at, brace)), brace);
}

// The `for` or the reduction whose indices have been read up to `at`.
Piece head_before(std::string_view text, std::uint32_t at) {
  std::uint32_t end = at;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\n')) --end;
  for (; end > 0; --end) {
    const char c = text[end - 1];
    if (c == '{' || c == '}' || c == ';' || c == '\n') break;
    if (c != ' ') continue;
    const Piece word = word_before(text, end);
    if (is_head(word.text) && is_name(word_after(text, end).text)) return word;
  }
  return {at, {}};
}

// `for i j { … }` and `sum i < 2 sum j < 2 { … }`, with the error at what stands behind `i`.
Found with_commas(std::string_view text, const Piece& head, std::uint32_t at) {
  const std::uint32_t brace = at + static_cast<std::uint32_t>(std::min(
                                       text.substr(at).find_first_of("{};\n"), text.size() - at));
  const Piece next = word_after(text, at);
  if (next.text == "in" || !text.substr(brace).starts_with('{')) return std::nullopt;
  const bool is_repeated = next.text == head.text && !head.text.starts_with("arg");
  std::string ours = trimmed(text, head.begin, at) + ", ";
  const std::string rest = trimmed(text, is_repeated ? at + head.text.size() : at, brace);
  const auto ends_operand = [](char c) {
    return c == ')' || c == ']' || lang::word_length({&c, 1}) > 0;
  };
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const bool is_missing = rest[i] == ' ' && i > 0 && ends_operand(rest[i - 1]) &&
                            lang::letter_length(std::string_view(rest).substr(i + 1)) > 0;
    if (is_missing) ours += ',';
    ours += rest[i];
  }
  ours += " {";
  const std::string body = trimmed(text, brace + 1, closer_of(text, brace));
  return replaced(
      head.begin, brace + 1, ours,
      fmt::format("help: indices have commas between them: `{}`", shown(ours + " ", body, " }")));
}

// `scatter sum (init) (i, j) { … }`
Found of_scatter(std::string_view text, std::uint32_t open) {
  const std::uint32_t close = closer_of(text, open);
  if (!word_before(text, open).text.empty() || close == text.size()) return std::nullopt;
  const std::string indices = indices_of(text.substr(open + 1, close - open - 1));
  if (indices.empty()) return std::nullopt;
  return replaced(open, close + 1, indices,
                  fmt::format("help: indices stand without parentheses: `{} {{ … }}`", indices));
}

}  // namespace

void add_indices(const lang::Diagnostic& error, std::string_view text, std::uint32_t at,
                 std::vector<Edit>& edits) {
  const auto add = [&](Found edit) {
    if (edit) edits.push_back(std::move(*edit));
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with('(') && says(error, "an index variable")) {
    add(with_parentheses(text, at));
    add(of_scatter(text, at));
  }
  const std::size_t last = text.substr(0, at).find_last_not_of(" \n");
  if (last != std::string_view::npos && text[last] == ')') {
    const Piece call = operand_before(text, static_cast<std::uint32_t>(last) + 1);
    const std::size_t open = call.text.find('(');
    if (open != std::string_view::npos)
      add(with_parentheses(text, call.begin + static_cast<std::uint32_t>(open)));
  }
  if (rest.starts_with("in ") && says(error, "close the arguments"))
    add(with_parentheses(text, error.labels.front().span.begin));
  add(with_other_word(text, at));
  if (!says(error, "what to reduce") && !says(error, "and the element")) return;
  const Piece head = head_before(text, at);
  if (head.text.empty()) return;
  add(with_commas(text, head, at));
  add(with_braces(text, head, trimmed(text, head.end(), static_cast<std::uint32_t>(last) + 1), at));
}

}  // namespace relay::parser
