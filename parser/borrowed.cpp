#include "parser/borrowed.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/dtype.h"
#include "lang/number_text.h"
#include "lang/op.h"
#include "parser/borrowed_characters.h"
#include "parser/borrowed_text.h"

namespace relay::parser {
namespace {

// `for i in 0..n` and `for i in range(n)`: the text of `n`, and where the whole ends.
std::optional<Edit> range_as_extent(std::string_view text, std::uint32_t in) {
  const std::uint32_t from = word_after(text, in + 2).begin;
  const std::string_view rest = text.substr(from);
  const bool is_call = rest.starts_with("range(");
  if (!is_call && !rest.starts_with("0..")) return std::nullopt;
  const std::size_t begin = is_call ? 6 : 3;
  const std::size_t end = is_call ? expression_end(rest, 6, "") : rest.find_first_of(" {", begin);
  if (end >= rest.size() || end == begin) return std::nullopt;
  const std::string extent(rest.substr(begin, end - begin));
  if (extent.find_first_of(",=.\n") != std::string::npos) return std::nullopt;
  const auto removed = static_cast<std::uint32_t>(from - in + end + (is_call ? 1 : 0));
  const Piece index = word_before(text, in);
  return Edit{"< " + extent, in,
              fmt::format("help: an index runs from 0 to below its extent: `{} {} < {}`",
                          word_before(text, index.begin).text, index.text, extent),
              removed};
}

// `sum k <= i { .. }`
std::optional<Edit> last_index(std::string_view text, std::uint32_t sign) {
  const Piece index = word_before(text, sign);
  std::uint32_t end = sign + 2;
  for (int depth = 0; end < text.size(); ++end) {
    const char c = text[end];
    if (depth == 0 && (c == '{' || c == ',' || c == '\n')) break;
    if (depth == 0 && std::string_view("<>=&|").find(c) != std::string_view::npos)
      return std::nullopt;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
  }
  const std::string last = trimmed(text, sign + 2, end);
  if (index.text.empty() || last.empty()) return std::nullopt;
  return replaced(sign, end, fmt::format("< {} + 1 ", last),
                  fmt::format("help: an index runs from 0 to below its extent: `{} < {} + 1`",
                              index.text, last));
}

// `f"x = {e}"`: what is not plain text becomes a value of its own.
std::optional<Edit> formatted(std::string_view text, std::uint32_t quote) {
  if (quote == 0 || text[quote - 1] != 'f') return std::nullopt;
  const std::size_t close = text.find('"', quote + 1);
  if (close == std::string_view::npos) return std::nullopt;
  const auto end = static_cast<std::uint32_t>(close) + 1;
  std::string_view content = text.substr(quote + 1, close - quote - 1);
  std::string ours;
  const std::size_t open = content.find('{');
  if (open != std::string_view::npos && content.ends_with('}')) {
    const std::string value(content.substr(open + 1, content.size() - open - 2));
    if (value.find_first_of("{}:") != std::string::npos) return std::nullopt;
    content = content.substr(0, open);
    ours = ", " + value;
  }
  if (content.find_first_of("{}") != std::string_view::npos) return std::nullopt;
  ours = fmt::format("\"{}\"{}", trimmed(content, 0, static_cast<std::uint32_t>(content.size())),
                     ours);
  return replaced(quote - 1, end, ours,
                  fmt::format("help: strings are plain, and a value is printed behind its label: "
                              "`print({})`",
                              ours));
}

// What a name of the text stands for, as far as its binding shows.
enum class Meaning { Function, Tensor, Unknown };
Meaning meaning_of(std::string_view text, std::string_view name) {
  if (lang::OpRegistry::instance().find(name) ||
      text.find(fmt::format("def {}(", name)) != std::string_view::npos)
    return Meaning::Function;
  const std::string binding = fmt::format("let {} = ", name);
  const std::size_t bound = text.find(binding);
  const std::string_view value =
      bound == std::string_view::npos ? "" : text.substr(bound + binding.size());
  if (value.starts_with("fn ") || value.starts_with("grad(")) return Meaning::Function;
  const auto is_declared = [&](char before) {
    return text.find(fmt::format("{}{}: Tensor[", before, name)) != std::string_view::npos;
  };
  const bool is_tensor = value.starts_with('[') || is_declared('(') || is_declared(' ');
  return is_tensor ? Meaning::Tensor : Meaning::Unknown;
}

// `f'` and `f''` of a function, and `a'` of a matrix.
std::optional<Edit> derivative(std::string_view text, std::uint32_t quote) {
  const Piece name = operand_before(text, quote);
  if (name.text.empty() || name.end() != quote) return std::nullopt;
  const bool is_value = name.text.back() == ')' || name.text.back() == ']';
  std::string ours(name.text);
  std::uint32_t end = quote;
  for (; end < text.size() && text[end] == '\''; ++end) ours = fmt::format("grad({})", ours);
  const bool is_function = end - quote > 1 || text.substr(end).starts_with('(');
  const Meaning meaning = is_function ? Meaning::Function
                          : is_value  ? Meaning::Tensor
                                      : meaning_of(text, name.text);
  const std::string transposed = fmt::format("transpose({})", without_parentheses(name.text));
  if (meaning == Meaning::Tensor)
    return replaced(name.begin, end, transposed,
                    fmt::format("help: the transposed matrix is `{}`", transposed));
  const std::string help =
      meaning == Meaning::Function
          ? fmt::format("help: the derivative is `{}`", ours)
          : fmt::format("help: the derivative of a function is `{}`, a matrix transposed `{}`",
                        ours, transposed);
  return replaced(name.begin, end, ours, help);
}

// The operands of a power sign of this size at `sign`, from the first one's beginning to the second
// one's end, as a call.
struct Power {
  Piece written;
  std::string call;
};
std::optional<Power> power_at(std::string_view text, std::size_t sign, std::size_t size) {
  const Piece base = operand_before(text, static_cast<std::uint32_t>(sign));
  Piece exponent = operand_after(text, static_cast<std::uint32_t>(sign + size));
  if (exponent.text.empty() && exponent.end() < text.size() && text[exponent.end()] == '(') {
    const std::uint32_t close = expression_end(text, exponent.begin + 1, "");
    exponent.text = text.substr(exponent.begin, close + 1 - exponent.begin);
  }
  if (base.text.empty() || exponent.text.empty()) return std::nullopt;
  return Power{{base.begin, text.substr(base.begin, exponent.end() - base.begin)},
               fmt::format("power({}, {})", without_parentheses(base.text),
                           without_parentheses(exponent.text))};
}

// `x^2` and `x**2`, and all others behind it, without which it would still not parse. The last one
// goes first, as in `2**3**2`; what stands in the base of another, as in `(x^2)^3`, before that.
class Powers {
 public:
  Powers(std::string_view text, std::size_t first)
      : text_(text), begin_(text.size()), rest_(begin_) {
    for (std::size_t sign = first; sign != std::string::npos;
         sign = std::min(text.find('^', sign + 1), text.find("**", sign + 2)))
      signs_.push_back(sign);
  }

  std::optional<Edit> edit() {
    const std::size_t size = text_.size();
    while (!signs_.empty()) {
      if (!replace_last()) return std::nullopt;
    }
    return replaced(static_cast<std::uint32_t>(begin_), static_cast<std::uint32_t>(size - rest_),
                    text_.substr(begin_, text_.size() - rest_ - begin_), help_);
  }

 private:
  bool replace_last() {
    std::size_t sign = signs_.back();
    signs_.pop_back();
    const auto is_inside = [&] {
      const Piece base = operand_before(text_, static_cast<std::uint32_t>(sign));
      return !signs_.empty() && signs_.back() >= base.begin;
    };
    while (is_inside()) {
      const std::size_t before = text_.size();
      if (!replace_last()) return false;
      sign += text_.size() - before;
    }
    const auto power = power_at(text_, sign, text_[sign] == '^' ? 1 : 2);
    if (!power) return false;
    help_ = fmt::format("help: the power is `{}`", power->call);
    begin_ = std::min<std::size_t>(begin_, power->written.begin);
    rest_ = std::min(rest_, text_.size() - power->written.end());
    const std::size_t count = power->written.text.size();
    text_.replace(power->written.begin, count, power->call);
    return true;
  }

  std::string text_;
  std::string help_;                // of the first one
  std::vector<std::size_t> signs_;  // that stand there still
  std::size_t begin_;               // of what changes
  std::size_t rest_;                // so much stays behind it
};

// `x + 1 << 3`, with the error at the second sign: sums go first where others have it.
std::optional<Edit> shift(std::string_view text, std::uint32_t sign, std::string_view op) {
  constexpr std::string_view kLater = "=!<>&|?,";
  std::uint32_t begin = expression_begin(text, sign - 1);
  for (std::uint32_t at = sign - 1; at > begin; --at) {
    if (kLater.find(text[at - 1]) != std::string_view::npos) begin = at;
  }
  const std::uint32_t end = expression_end(text, sign + 1, kLater);
  const std::string value = trimmed(text, begin, sign - 1), count = trimmed(text, sign + 1, end);
  if (value.empty() || count.empty()) return std::nullopt;
  const std::string call = fmt::format("{}({}, {})", op, value, count);
  while (begin < sign && text[begin] == ' ') ++begin;
  return replaced(begin, end, call, fmt::format("help: bits are shifted by `{}`", call));
}

// `.5` and `5.`, with the error at the point.
std::optional<Edit> bare_point(std::string_view text, std::uint32_t point) {
  const char before = point > 0 ? text[point - 1] : '\0';
  const char behind = point + 1 < text.size() ? text[point + 1] : '\0';
  if (is_digit(before) == is_digit(behind)) return std::nullopt;
  return Edit{"0", is_digit(before) ? point + 1 : point, std::string(lang::kDigitsAroundPoint)};
}

// `a .* b` and `a .^ b` of MATLAB and Julia, with the error at the point.
std::optional<Edit> pointwise(std::string_view text, std::uint32_t point) {
  const std::string_view sign = text.substr(point + 1, 1);
  if (sign == "^") {
    const auto power = power_at(text, point, 2);
    if (!power) return std::nullopt;
    return replaced(power->written.begin, power->written.end(), power->call,
                    fmt::format("help: the power of each element is `{}`", power->call));
  }
  if (sign.empty() || std::string_view("+-*/<>=!").find(sign) == std::string_view::npos)
    return std::nullopt;
  const Piece left = operand_before(text, point);
  const Piece right = operand_after(text, point + 2);
  const bool is_shown = !left.text.empty() && !right.text.empty() && sign != "=" && sign != "!";
  return replaced(
      point, point + 1, "",
      is_shown ? fmt::format("help: element by element is `{} {} {}`", left.text, sign, right.text)
               : "help: operators go element by element without a point");
}

// `: \`let x = 3\``, where that is short enough to be shown.
std::string shown_behind(std::string_view what, const std::string& written) {
  constexpr std::size_t kLongest = 40;
  const bool is_short = written.size() <= kLongest && written.find('\n') == std::string::npos;
  return is_short ? fmt::format("{}: `{}`", what, written) : std::string(what);
}

// `x = y = 3`, with the error at the first sign.
std::optional<Edit> bindings(std::string_view text, const Piece& first, std::uint32_t sign) {
  std::vector<std::string> names = {std::string(first.text)};
  Piece next = word_after(text, sign + 1);
  std::uint32_t value = sign + 1;
  for (;;) {
    std::uint32_t equals = next.end();
    while (equals < text.size() && text[equals] == ' ') ++equals;
    const bool is_bound = !next.text.empty() && !is_digit(next.text.front()) &&
                          text.substr(equals, 1) == "=" && text.substr(equals, 2) != "==";
    if (!is_bound) break;
    names.emplace_back(next.text);
    value = equals + 1;
    next = word_after(text, value);
  }
  if (names.size() == 1) return std::nullopt;
  const std::uint32_t end = expression_end(text, value, "");
  std::string of = trimmed(text, value, end);
  std::string ours;
  for (std::size_t i = names.size(); i-- > 0;) {
    ours += fmt::format("let {} = {}{}", names[i], of, i > 0 ? "; " : "");
    of = names[i];
  }
  return replaced(first.begin, end, ours, shown_behind("help: each binding has its `let`", ours));
}

// `(a, b) = e`, where a statement begins.
std::optional<Edit> tuple_binding(std::string_view text, std::uint32_t open, std::uint32_t sign) {
  if (!begins_statement(text, open)) return std::nullopt;
  const std::string written = trimmed(text, open, expression_end(text, sign + 1, ""));
  return Edit{"let ", open, shown_behind("help: a binding begins with `let`", "let " + written)};
}

// `x = e`, `x: T = e` and `f(x) = e`, where an item or a statement begins; and `x: T`.
std::optional<Edit> binding(std::string_view text, std::uint32_t sign) {
  std::uint32_t end = sign;
  while (end > 0 && text[end - 1] == ' ') --end;
  const bool is_call = end > 0 && text[end - 1] == ')';
  if (is_call) {
    const std::size_t open = text.rfind('(', end - 1);
    if (open == std::string_view::npos) return std::nullopt;
    end = static_cast<std::uint32_t>(open);
  }
  const Piece name = word_before(text, end);
  if (is_call && name.text.empty()) return tuple_binding(text, end, sign);
  if (name.text.empty() || is_digit(name.text.front())) return std::nullopt;
  if (!begins_statement(text, name.begin)) return std::nullopt;
  if (is_call) return Edit{"def ", name.begin, "help: a definition begins with `def`"};
  if (text[sign] == '=') {
    if (auto several = bindings(text, name, sign)) return several;
  }
  const std::uint32_t last = expression_end(text, sign + 1, "");
  const std::string written = "let " + trimmed(text, name.begin, last);
  if (written.find('=') == std::string::npos)
    return replaced(name.begin, last, written + " = 0.0",
                    shown_behind("help: a binding has a value", written + " = …"));
  return Edit{"let ", name.begin, shown_behind("help: a binding begins with `let`", written)};
}

// `c ? a : b`
std::optional<Edit> choice(std::string_view text, std::uint32_t mark) {
  const std::uint32_t begin = expression_begin(text, mark);
  const std::uint32_t colon = expression_end(text, mark + 1, ":");
  if (colon >= text.size() || text[colon] != ':') return std::nullopt;
  const std::uint32_t end = expression_end(text, colon + 1, ",");
  const std::string ours =
      fmt::format("if {} {{ {} }} else {{ {} }}", trimmed(text, begin, mark),
                  trimmed(text, mark + 1, colon), trimmed(text, colon + 1, end));
  return replaced(begin, end, ours, fmt::format("help: a choice is `{}`", ours));
}

// `if c then a else b`
std::optional<Edit> then_branches(std::string_view text, std::uint32_t then) {
  const std::size_t other = text.find("else ", then);
  if (other == std::string_view::npos) return std::nullopt;
  const auto middle = static_cast<std::uint32_t>(other);
  const std::uint32_t end = expression_end(text, middle + 5, ",");
  const std::string ours = fmt::format("{{ {} }} else {{ {} }}", trimmed(text, then + 4, middle),
                                       trimmed(text, middle + 5, end));
  return replaced(then, end, ours, fmt::format("help: branches stand in braces: `{}`", ours));
}

// `lambda x, y: e`, with the error at `x`.
std::optional<Edit> lambda(std::string_view text, std::uint32_t word, std::uint32_t params) {
  const std::size_t colon = text.find(':', params);
  if (colon == std::string_view::npos) return std::nullopt;
  const auto at = static_cast<std::uint32_t>(colon);
  return function_of(text, word, trimmed(text, params, at), at + 1);
}

// `x => e`, `(x, y) -> e`
std::optional<Edit> arrow(std::string_view text, std::uint32_t sign) {
  const std::uint32_t begin = expression_begin(text, sign);
  std::string params = trimmed(text, begin, sign);
  if (params.size() > 1 && params.front() == '(' && params.back() == ')')
    params = params.substr(1, params.size() - 2);
  const bool are_names =
      !params.empty() && params.find_first_of("()[]{}+-*/\"") == std::string::npos;
  if (!are_names) return std::nullopt;
  return function_of(text, begin, params, sign + 2);
}

// `x - (e)` of `x -= e`.
std::string updated(const std::string& value, char sign, const std::string& by) {
  const bool is_operand = operand_after(by, 0).text.size() == by.size();
  return sign == '+' || is_operand ? fmt::format("{} {} {}", value, sign, by)
                                   : fmt::format("{} {} ({})", value, sign, by);
}

// `x += e`
std::optional<Edit> update(std::string_view text, std::uint32_t equals) {
  if (equals == 0 || std::string_view("+-*/").find(text[equals - 1]) == std::string_view::npos)
    return std::nullopt;
  const Piece name = word_before(text, equals - 1);
  if (name.text.empty() || is_digit(name.text.front())) return std::nullopt;
  const std::uint32_t end = expression_end(text, equals + 1, "");
  const std::string ours = fmt::format(
      "let {} = {}", name.text,
      updated(std::string(name.text), text[equals - 1], trimmed(text, equals + 1, end)));
  return replaced(name.begin, end, ours,
                  fmt::format("help: a value gets a new binding: `{}`", ours));
}

// `r := e`, or `r = e`, where `r` has been bound: to a reference, as far as one can see, or to
// anything.
struct Assignment {
  Edit write;
  bool is_reference;
};
std::optional<Assignment> assignment(std::string_view text, std::uint32_t sign,
                                     std::uint32_t behind) {
  const Piece name = word_before(text, sign);
  if (name.text.empty() || is_digit(name.text.front())) return std::nullopt;
  const std::string bound = fmt::format("let {} = ", name.text);
  const std::size_t binding = text.substr(0, name.begin).rfind(bound);
  if (binding == std::string_view::npos) return std::nullopt;
  const std::uint32_t end = expression_end(text, behind, ",");
  const std::string value = trimmed(text, behind, end);
  if (value.empty()) return std::nullopt;
  const std::string ours = fmt::format("ref_write({}, {})", name.text, value);
  return Assignment{
      replaced(name.begin, end, ours, fmt::format("help: a reference is written by `{}`", ours)),
      text.substr(binding + bound.size()).starts_with("ref(")};
}

// `type A = B | C`
std::optional<Edit> alternatives(std::string_view text, std::uint32_t equals) {
  const std::uint32_t end = expression_end(text, equals, "");
  std::string ours = "{ " + trimmed(text, equals + 1, end) + " }";
  for (std::size_t bar = ours.find(" |"); bar != std::string::npos; bar = ours.find(" |"))
    ours.replace(bar, 2, ",");
  return replaced(equals, end, ours,
                  fmt::format("help: constructors stand in braces: `type {} {}`",
                              word_before(text, equals).text, ours));
}

// `Point(x: float32, y: float32)` of a data type
std::optional<Edit> named_fields(std::string_view text, std::uint32_t colon) {
  std::uint32_t open = word_before(text, colon).begin;
  while (open > 0 && text[open - 1] == ' ') --open;
  if (open == 0 || text[open - 1] != '(') return std::nullopt;
  const std::uint32_t end = expression_end(text, open, "");
  if (end >= text.size() || text[end] != ')') return std::nullopt;
  const std::string ours = fmt::format(" {{ {} }}", trimmed(text, open, end));
  return replaced(open - 1, end + 1, ours,
                  fmt::format("help: fields with names stand in braces: `{}{}`",
                              word_before(text, open - 1).text, ours));
}

// `let (a, b) = 1, 2`
std::optional<Edit> bare_tuple(std::string_view text, std::uint32_t comma) {
  const std::uint32_t begin = expression_begin(text, comma);
  const std::uint32_t end = expression_end(text, comma, "");
  const std::string ours = "(" + trimmed(text, begin, end) + ")";
  return replaced(begin, end, ours, fmt::format("help: a tuple has parentheses: `{}`", ours));
}

// `x[i] = e` and `x[i] += e`; in a block where more follows, with a binding of the copy.
void add_element(std::string_view text, std::uint32_t equals, std::vector<Edit>& edits) {
  const char before = equals > 0 ? text[equals - 1] : '\0';
  const bool is_update = std::string_view("+-*/").find(before) != std::string_view::npos;
  const std::uint32_t sign = is_update ? equals - 1 : equals;
  const std::uint32_t begin = expression_begin(text, sign);
  const std::string left = trimmed(text, begin, sign);
  const std::size_t open = left.find('[');
  if (open == 0 || open == std::string::npos || left.back() != ']') return;
  const std::string name = left.substr(0, open);
  const std::string index = left.substr(open + 1, left.size() - open - 2);
  const bool is_plain = name.find_first_of(" ()") == std::string::npos &&
                        index.find_first_of(":[]") == std::string::npos;
  if (!is_plain) return;
  const std::uint32_t end = expression_end(text, equals + 1, "");
  std::string value = trimmed(text, equals + 1, end);
  if (is_update) value = updated(left, before, value);
  const std::string copy = fmt::format("{} with {{ [{}] = {} }}", name, index, value);
  const auto add = [&](const std::string& ours) {
    edits.push_back(replaced(
        begin, end, ours,
        fmt::format("help: a tensor never changes; a copy with that element is `{}`", ours)));
  };
  if (end < text.size() && text[end] == ';') add(fmt::format("let {} = {}", name, copy));
  add(copy);
}

// `p.w = e`
std::optional<Edit> field(std::string_view text, std::uint32_t equals) {
  const Piece path = word_before(text, equals);
  const std::size_t dot = path.text.find('.');
  const bool is_field = dot != std::string_view::npos && dot > 0 &&
                        path.text.find('.', dot + 1) == std::string_view::npos &&
                        !is_digit(path.text.front()) && begins_statement(text, path.begin);
  if (!is_field) return std::nullopt;
  const std::uint32_t end = expression_end(text, equals + 1, "");
  const std::string ours = fmt::format("{} with {{ {} = {} }}", path.text.substr(0, dot),
                                       path.text.substr(dot + 1), trimmed(text, equals + 1, end));
  return replaced(
      path.begin, end, ours,
      fmt::format("help: a record never changes; a copy with that field is `{}`", ours));
}

// `assert x`, `print x`
Edit call_of(std::string_view text, const Piece& function, std::uint32_t argument) {
  const std::uint32_t end = expression_end(text, argument, "");
  const std::string ours = fmt::format("{}({})", function.text, trimmed(text, argument, end));
  return replaced(function.begin, end, ours,
                  fmt::format("help: a call has parentheses: `{}`", ours));
}

// Words of other languages; the error stands at the word, or at what follows it.
struct Borrowed {
  std::string_view word;
  std::string_view ours;
  std::string_view help;
  bool is_at_error;
};
constexpr std::string_view kDefinition = "help: a definition begins with `def`";
constexpr std::string_view kBinding = "help: a binding begins with `let`";
constexpr std::array kBorrowed = {
    Borrowed{"elif", "else if", "help: write `else if`", true},
    Borrowed{"and", "&&", "help: write `&&`", true},
    Borrowed{"or", "||", "help: write `||`", true},
    Borrowed{"not", "!", "", false},
    Borrowed{"return", "", "help: the last expression is the value; there is no `return`", false},
    Borrowed{"function", "def", kDefinition, false},
    Borrowed{"fn", "def", kDefinition, false},
    Borrowed{"func", "def", kDefinition, false},
    Borrowed{"fun", "def", kDefinition, false},
    Borrowed{"var", "let", kBinding, false},
    Borrowed{"const", "let", kBinding, false},
    Borrowed{"val", "let", kBinding, false},
    Borrowed{"mut", "", "help: a binding never changes; what does is a reference, `ref(…)`", false},
};

void add_words(std::string_view text, std::uint32_t at, std::vector<Edit>& edits) {
  const Piece here = word_after(text, at);
  const Piece before = word_before(text, at);
  if (before.text == "lambda") {
    if (auto edit = lambda(text, before.begin, at)) edits.push_back(std::move(*edit));
  }
  const bool is_of_function = here.text == "fn" && lang::parse_diff_mode(before.text);
  if (before.text == "assert" || before.text == "print" || is_of_function)
    edits.push_back(call_of(text, before, at));
  if (here.text == "then") {
    if (auto edit = then_branches(text, at)) edits.push_back(std::move(*edit));
  }
  if (before.text == "fn" && !here.text.empty()) {
    edits.push_back({fmt::format("({})", here.text), here.begin,
                     fmt::format("help: parameters stand in parentheses: `fn ({})`", here.text),
                     here.end() - here.begin});
  }
  for (const Borrowed& each : kBorrowed) {
    const Piece& piece = each.is_at_error ? here : before;
    if (piece.text != each.word) continue;
    // `!x` has no blank, and what stands for nothing leaves none.
    const bool joins = each.ours.empty() || each.ours == "!";
    const std::uint32_t end = joins && !each.is_at_error ? at : piece.end();
    std::string help(each.help);
    if (each.ours == "!") help = fmt::format("help: `!` negates: `!{}`", here.text);
    if (each.ours == "let")
      help = shown_behind(help, "let " + trimmed(text, at, expression_end(text, at, "")));
    edits.push_back({std::string(each.ours), piece.begin, help, end - piece.begin});
  }
}

// A number that is all of the comment that begins at `at`; empty where it is another one.
Piece number_in_comment(std::string_view text, std::uint32_t at) {
  const Piece number = word_after(text, at + 2);
  const std::size_t rest = text.find_first_not_of(' ', number.end());
  const bool is_all = rest == std::string_view::npos || text[rest] == '\n' || text[rest] == '\r';
  const bool is_number = is_all && !number.text.empty() && is_digit(number.text.front());
  return is_number ? number : Piece{at, {}};
}

// `let h = n // 2` on the line before, whose `;` is missed.
std::optional<Edit> division_before(std::string_view text, std::uint32_t at) {
  const std::size_t line_end = text.substr(0, at).rfind('\n');
  if (line_end == std::string_view::npos) return std::nullopt;
  const std::size_t mark = text.substr(0, line_end).rfind("//");
  if (mark == std::string_view::npos || mark < text.substr(0, line_end).rfind('\n') + 1)
    return std::nullopt;
  const Piece divisor = number_in_comment(text, static_cast<std::uint32_t>(mark));
  const Piece operand = operand_before(text, static_cast<std::uint32_t>(mark));
  if (divisor.text.empty() || operand.text.empty()) return std::nullopt;
  const std::string ours = fmt::format("floor_divide({}, {})", operand.text, divisor.text);
  return replaced(operand.begin, divisor.end(), ours + ";",
                  fmt::format("help: `//` begins a comment; `{};` divides", ours));
}

// `float32 x` of C, and `x float32` of Go.
std::optional<Edit> typed_parameter(std::string_view text, std::uint32_t at) {
  const Piece first = word_before(text, at), second = word_after(text, at);
  if (first.text.empty() || second.text.empty()) return std::nullopt;
  const auto is_type = [](std::string_view word) {
    return word == "Tensor" || lang::parse_dtype(word).has_value();
  };
  if (is_type(second.text))
    return Edit{":", first.end(), fmt::format("help: put `:` behind `{}`", first.text)};
  if (!is_type(first.text)) return std::nullopt;
  const std::string ours = fmt::format("{}: {}", second.text, first.text);
  return replaced(first.begin, second.end(), ours, fmt::format("help: write `{}`", ours));
}

}  // namespace

void add_borrowed(const lang::Diagnostic& error, std::string_view text, std::uint32_t at,
                  std::vector<Edit>& edits) {
  const auto add = [&](std::optional<Edit> edit) {
    if (edit) edits.push_back(std::move(*edit));
  };
  const std::string_view rest = text.substr(at);
  const char before = at > 0 ? text[at - 1] : '\0';
  if (says(error, "`;`")) add(division_before(text, at));
  add_indices(error, text, at, edits);
  if (rest.starts_with("in ")) add(range_as_extent(text, at));
  if (rest.starts_with('*') && before == '*') add(Powers(text, at - 1).edit());
  if (rest.starts_with('^')) add(Powers(text, at).edit());
  if (rest.starts_with('?')) add(choice(text, at));
  if (rest.starts_with('.')) {
    add(bare_point(text, at));
    add(pointwise(text, at));
  }
  if (rest.starts_with('<') && before == '<') add(shift(text, at, "left_shift"));
  if (rest.starts_with('>') && before == '>') add(shift(text, at, "right_shift"));
  if (rest.starts_with("<=")) add(last_index(text, at));
  if (rest.starts_with('"')) add(formatted(text, at));
  if (rest.starts_with("=>") || rest.starts_with("->")) add(arrow(text, at));
  if (rest.starts_with(',')) add(bare_tuple(text, at));
  if (rest.starts_with(':') && before == ')')
    edits.push_back({" =", at, "help: the value of a function stands behind `=`, or in braces", 1});
  if (says(error, "close the parameters")) add(typed_parameter(text, at));
  if (rest.starts_with(':') && says(error, "close the constructor")) add(named_fields(text, at));
  if (rest.starts_with(':') && !rest.starts_with(":=")) add(binding(text, at));
  if (rest.starts_with(":=")) {
    const auto written = assignment(text, at, at + 2);
    if (written && written->is_reference) edits.push_back(written->write);
    edits.push_back({"=", at, "help: a binding is `let x = …`", 2});
    const Piece name = word_before(text, at);
    edits.push_back({fmt::format("let {} =", name.text), name.begin,
                     fmt::format("help: a binding is `let {0} = …`, and a reference is written by "
                                 "`ref_write({0}, …)`",
                                 name.text),
                     at + 2 - name.begin});
    if (written && !written->is_reference) edits.push_back(written->write);
  }
  if (rest.starts_with('=') && !rest.starts_with("==")) {
    const auto written = assignment(text, at, at + 1);
    if (written && written->is_reference) edits.push_back(written->write);
    add(binding(text, at));
    add_element(text, at, edits);
    add(field(text, at));
    if (before == ':') edits.push_back({"", at - 1, "help: a binding is `let x = …`", 1});
    add(update(text, at));
    if (says(error, "a definition")) add(alternatives(text, at));
  }
  if (rest.starts_with('\'')) {
    const std::size_t close = rest.find('\'', 1);
    if (const auto edit = derivative(text, at)) {
      add(edit);
    } else if (close != std::string_view::npos) {
      const std::string ours = fmt::format("\"{}\"", rest.substr(1, close - 1));
      add(replaced(at, at + static_cast<std::uint32_t>(close) + 1, ours,
                   fmt::format("help: strings have double quotes: `{}`", ours)));
    }
  }
  if (rest.starts_with('"') && says(error, "never closed")) {
    const std::size_t line = std::min(text.find('\n', at), text.size());
    edits.push_back({"\"", static_cast<std::uint32_t>(line), "help: a string ends with `\"`"});
  }
  add(other_character(text, at));
  add_words(text, at, edits);
  add_forms(error, text, at, edits);
}

std::string_view help_for_borrowed(const lang::Diagnostic& error, std::string_view text) {
  struct Help {
    std::string_view before;  // the word before the error, if it matters
    std::string_view at;      // how the text goes on there
    std::string_view says;    // a part of the message
    std::string_view help;
  };
  static constexpr std::string_view kLoop =
      "help: a loop is a function that calls itself, or `iterate(f, n)`; elements of tensors are "
      "computed by `for i < n { … }`";
  static constexpr std::string_view kExtent =
      "help: an index runs from 0 to below its extent: `i < n`";
  static constexpr std::string_view kData =
      "help: a data type is `type Point { Point { x: float32, y: float32 } }`";
  static constexpr std::string_view kCases =
      "help: cases are told apart by `match x { Some(y) => …, None => … }`";
  static constexpr std::string_view kGuard =
      "help: a condition stands in the value: `Some(y) => if y > 0 { … } else { … }`";
  static constexpr std::string_view kFailure =
      "help: `assert(False, \"what is wrong\")` ends with an error";
  static constexpr std::array kHelps = {
      Help{"while", "", "", kLoop},
      Help{"", "(", "an index variable", kLoop},
      Help{"", "in ", "and the element", "help: an index runs over places: `for i { f(xs[i]) }`"},
      Help{"", "for ", "to close the list",
           "help: a tensor by its elements is `for i { f(xs[i]) }`"},
      Help{"", "for ", "to close the arguments",
           "help: a sum over places is `sum i { f(xs[i]) }`, a tensor `for i { f(xs[i]) }`"},
      Help{"", ":", "function's body",
           "help: the value of a function stands behind `=`, or in braces"},
      Help{"struct", "", "", kData},
      Help{"class", "", "", kData},
      Help{"data", "", "", kData},
      Help{"enum", "", "", "help: a data type is `type Color { Red, Green }`"},
      Help{"", "<=", "what to reduce", kExtent},
      Help{"", "<=", "and the element", kExtent},
      Help{"", "", "what to reduce",
           "help: a reduction is `max i { x[i] }`; the larger of two is `maximum(a, b)`"},
      Help{"f", "\"", "",
           "help: strings are plain; `print(\"label\", value)` prints a value behind its label"},
      Help{"case", "", "", kCases},
      Help{"switch", "", "", kCases},
      Help{"", "is ", "", kCases},
      Help{"do", "{", "", "help: a block is `{ …; value }`"},
      Help{"begin", "", "", "help: a block is `{ …; value }`"},
      Help{"try", "{", "", "help: there are no exceptions: an `Option` holds a value or none"},
      Help{"", "if ", "after the pattern", kGuard},
      Help{"", "when ", "after the pattern", kGuard},
      Help{"", "|", "after the pattern", "help: each pattern has a case of its own"},
      Help{"raise", "", "", kFailure},
      Help{"throw", "", "", kFailure},
      Help{"from", "", "", "help: a file is imported as `import \"file.relay\"`"},
      Help{"where", "", "", "help: a `let` stands before what uses it"},
      Help{"", ":=", "to close the block",
           "help: a reference is written by `ref_write(r, x)`, and a binding is `let x = …`"},
      Help{"", "=", "to close the block",
           "help: a binding never changes; a new one is `let x = …; …`, and a sum over an index is "
           "`sum i { … }`"},
      Help{"", "=", "an operator", "help: to compare, write `==`"},
      Help{"", ":", "to close the block",
           "help: a record has a type: `type Point { Point { x: float32 } }`, then `Point(x = "
           "1.0)`"},
      Help{"", "", "the file's name as a string",
           "help: a file is imported as `import \"file.relay\"`"},
  };
  const std::uint32_t at = error.span.begin;
  const Piece before = word_before(text, at);
  for (const Help& each : kHelps) {
    if ((each.before.empty() || before.text == each.before) &&
        text.substr(at).starts_with(each.at) && says(error, each.says))
      return each.help;
  }
  return help_for_character(text.substr(at));
}

std::optional<lang::Diagnostic> commented_division(lang::Span value) {
  const std::string_view text = value.source->text();
  std::uint32_t at = value.end;
  while (at < text.size() && text[at] == ' ') ++at;
  if (text.substr(at, 2) != "//") return std::nullopt;
  const Piece divisor = number_in_comment(text, at);
  if (divisor.text.empty()) return std::nullopt;
  lang::Diagnostic warning(lang::DiagnosticKind::NumberInComment,
                           "`//` begins a comment, and does not divide",
                           {value.source, at, divisor.end()});
  warning.note(fmt::format("help: `floor_divide({}, {})`", operand_before(text, value.end).text,
                           divisor.text));
  return warning;
}

}  // namespace relay::parser
