// Forms that have another spelling in other languages.

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/derivative.h"
#include "lang/op.h"
#include "parser/borrowed_text.h"

namespace relay::parser {
namespace {

using Found = std::optional<Edit>;

bool is_any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view each : words) {
    if (each == word) return true;
  }
  return false;
}

std::uint32_t skip_blanks(std::string_view text, std::uint32_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
  return at;
}

// `{ y + 1; }`
Found semicolon_at_end(std::string_view text, std::uint32_t brace) {
  const std::size_t mark = text.substr(0, brace).find_last_not_of(" \t\r\n");
  if (mark == std::string_view::npos || text[mark] != ';') return std::nullopt;
  const auto at = static_cast<std::uint32_t>(mark);
  const std::string value = trimmed(text, expression_begin(text, at), at);
  return replaced(at, at + 1, "",
                  fmt::format("help: the last expression of a block is its value, without a `;`: "
                              "`{} }}`",
                              value));
}

// `[1, 2; 3, 4]`, as others write a matrix: all rows of the list.
Found rows_by_semicolon(std::string_view text, std::uint32_t open) {
  std::vector<std::string> rows;
  std::uint32_t at = open;
  do {
    const std::uint32_t begin = at + 1;
    do {
      at = expression_end(text, at + 1, "");
    } while (at < text.size() && text[at] == '\n');
    if (at == text.size()) return std::nullopt;
    rows.push_back(trimmed(text, begin, at));
  } while (text[at] == ';');
  if (text[at] != ']') return std::nullopt;
  const bool are_lists = std::all_of(rows.begin(), rows.end(),
                                     [](const std::string& row) { return row.starts_with('['); });
  const std::string ours = are_lists ? fmt::format("[{}]", fmt::join(rows, ", "))
                                     : fmt::format("[[{}]]", fmt::join(rows, "], ["));
  return replaced(open, at + 1, ours, fmt::format("help: rows are lists of their own: `{}`", ours));
}

// `match x { Some(y) -> y }`: all arrows of the match.
Found arrows_of_match(std::string_view text, std::uint32_t arrow) {
  const std::uint32_t end = [&] {
    int depth = 0;
    std::uint32_t at = arrow;
    for (; at < text.size(); ++at) {
      if (text[at] == '{' || text[at] == '(') ++depth;
      if ((text[at] == '}' || text[at] == ')') && depth-- == 0) break;
    }
    return at;
  }();
  std::string ours(text.substr(arrow, end - arrow));
  for (std::size_t at = ours.find("->"); at != std::string::npos; at = ours.find("->", at + 2))
    ours.replace(at, 2, "=>");
  return replaced(arrow, end, ours, "help: a case is `pattern => value`");
}

// `type P { w: float32 }`, `type P = { w: float32 }`: from the brace on.
Found constructor_of_record(std::string_view text, std::uint32_t from, std::uint32_t open) {
  const std::size_t close = text.find('}', open);
  const Piece name = word_before(text, from);
  if (close == std::string_view::npos || name.text.empty()) return std::nullopt;
  const auto end = static_cast<std::uint32_t>(close) + 1;
  const std::string fields(text.substr(open, end - open));
  const std::string ours = fmt::format("{{ {} {} }}", name.text, fields);
  return replaced(from, end, ours,
                  fmt::format("help: a record has a constructor: `type {} {}`", name.text, ours));
}

// `Point { x: 1.0, y = 2.0 }`
Found record_in_braces(std::string_view text, std::uint32_t open) {
  const Piece name = word_before(text, open);
  if (name.text.empty() || name.text.front() < 'A' || name.text.front() > 'Z') return std::nullopt;
  int depth = 0;
  std::uint32_t close = open;
  for (; close < text.size(); ++close) {
    const char c = text[close];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) break;
  }
  if (close == text.size()) return std::nullopt;
  std::string fields;
  for (std::uint32_t at = open + 1; at < close;) {
    const Piece field = word_after(text, skip_blanks(text, at));
    const std::uint32_t sign = skip_blanks(text, field.end());
    const bool is_field =
        !field.text.empty() && (text.substr(sign).starts_with(':') ||
                                (text.substr(sign).starts_with('=') && text[sign + 1] != '='));
    const std::uint32_t end = std::min(expression_end(text, sign + 1, ","), close);
    if (!is_field) return std::nullopt;
    fields += fmt::format("{}{} = {}", fields.empty() ? "" : ", ", field.text,
                          trimmed(text, sign + 1, end));
    at = skip_blanks(text, end);
    if (at < close && text[at] == ',') at = skip_blanks(text, at + 1);
  }
  const std::string ours = fmt::format("{}({})", name.text, fields);
  return replaced(name.begin, close + 1, ours,
                  fmt::format("help: a constructor is called: `{}`", ours));
}

// `if c 1 else 2`, `else 3`
Found bare_branches(std::string_view text, std::uint32_t at, bool is_last) {
  if (is_last) {
    const std::uint32_t end = expression_end(text, at, ",");
    const std::string ours = fmt::format("{{ {} }}", trimmed(text, at, end));
    return replaced(at, end, ours, fmt::format("help: branches stand in braces: `else {}`", ours));
  }
  const std::size_t other = text.find(" else ", at);
  if (other == std::string_view::npos) return std::nullopt;
  const auto middle = static_cast<std::uint32_t>(other);
  const std::uint32_t end = expression_end(text, middle + 6, ",");
  const std::string ours = fmt::format("{{ {} }} else {{ {} }}", trimmed(text, at, middle),
                                       trimmed(text, middle + 6, end));
  return replaced(at, end, ours, fmt::format("help: branches stand in braces: `{}`", ours));
}

// `a if c else b`
Found condition_behind(std::string_view text, std::uint32_t at) {
  const std::size_t other = text.find(" else ", at);
  if (other == std::string_view::npos ||
      text.substr(at, other - at).find_first_of("\n{") != std::string::npos)
    return std::nullopt;
  const auto middle = static_cast<std::uint32_t>(other);
  const std::uint32_t begin = expression_begin(text, at);
  const std::uint32_t end = expression_end(text, middle + 6, ",");
  const std::string ours =
      fmt::format("if {} {{ {} }} else {{ {} }}", trimmed(text, at + 2, middle),
                  trimmed(text, begin, at), trimmed(text, middle + 6, end));
  return replaced(begin, end, ours, fmt::format("help: the condition comes first: `{}`", ours));
}

// `let a, b = e`
Found bare_pattern(std::string_view text, std::uint32_t comma) {
  const std::size_t equals = text.find('=', comma);
  const Piece first = word_before(text, comma);
  if (equals == std::string_view::npos || word_before(text, first.begin).text != "let")
    return std::nullopt;
  const auto end = static_cast<std::uint32_t>(equals);
  const std::string names = trimmed(text, first.begin, end);
  if (names.find_first_of("(\n") != std::string::npos) return std::nullopt;
  return replaced(
      first.begin, end, fmt::format("({}) ", names),
      fmt::format("help: a tuple is taken apart in parentheses: `let ({}) = …`", names));
}

// `\x y -> e`, `fun x -> e`, `fn x => e`: `params` is where the parameters begin.
Found lambda_with_arrow(std::string_view text, std::uint32_t begin, std::uint32_t params) {
  const std::string_view line = text.substr(params, text.find('\n', params) - params);
  const std::size_t arrow = std::min(line.find("->"), line.find("=>"));
  if (arrow == std::string_view::npos) return std::nullopt;
  std::string names = trimmed(text, params, params + static_cast<std::uint32_t>(arrow));
  if (names.size() > 1 && names.front() == '(' && names.back() == ')')
    names = names.substr(1, names.size() - 2);
  if (names.find(',') == std::string::npos) {
    for (std::size_t at = names.find(' '); at != std::string::npos; at = names.find(' ', at + 2))
      names.replace(at, 1, ", ");
  }
  return function_of(text, begin, names, params + static_cast<std::uint32_t>(arrow) + 2);
}

// `fn (x) => x`, and `fn (x) -> x`, whose arrow is taken for that of a result type.
Found body_behind_arrow(std::string_view text, std::uint32_t at, bool is_def) {
  const std::size_t arrow = text.substr(at).starts_with("=>") ? at : text.substr(0, at).rfind("->");
  if (arrow == std::string_view::npos || arrow < text.substr(0, at).rfind('\n') + 1)
    return std::nullopt;
  const auto from = static_cast<std::uint32_t>(arrow);
  const std::uint32_t end = expression_end(text, from + 2, ",");
  const std::string body = trimmed(text, from + 2, end);
  const std::string ours =
      body.starts_with('{') && body.ends_with('}') ? body : fmt::format("{{ {} }}", body);
  const std::string_view what = is_def ? "the body of a function" : "a function's body";
  return replaced(from, end, ours, fmt::format("help: {} stands in braces: `{}`", what, ours));
}

// `|x, y| e`
Found lambda_in_bars(std::string_view text, std::uint32_t bar) {
  const std::string_view line = text.substr(0, text.find('\n', bar));
  const std::size_t close = line.find('|', bar + 1);
  if (close == std::string_view::npos) return std::nullopt;
  const auto end = static_cast<std::uint32_t>(close);
  const std::string params = trimmed(text, bar + 1, end);
  const std::uint32_t body = skip_blanks(text, end + 1);
  if (params.empty()) return std::nullopt;
  if (!text.substr(body).starts_with('{')) return function_of(text, bar, params, body);
  const std::string ours = fmt::format("fn ({})", params);
  return replaced(bar, end + 1, ours, fmt::format("help: a function is `{} {{ … }}`", ours));
}

// `sum(e for i in range(n))`, `[e for i in range(n)]`, with the error at `for`.
Found comprehension(std::string_view text, std::uint32_t open, std::uint32_t at) {
  const Piece index = word_after(text, at + 3);
  const Piece in = word_after(text, index.end());
  const std::uint32_t close = expression_end(text, in.end(), ",");
  const std::string element = trimmed(text, open + 1, at);
  std::string extent = trimmed(text, in.end(), close);
  if (extent.starts_with("range(") && extent.ends_with(')'))
    extent = extent.substr(6, extent.size() - 7);
  else if (extent.starts_with("0.."))
    extent = extent.substr(3);
  else if (extent.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const Piece function = word_before(text, open);
  const bool is_list = text[open] == '[';
  const bool is_reduction = is_any_of(function.text, {"sum", "prod", "max", "min", "any", "all"});
  if (in.text != "in" || close >= text.size() || text[close] == ',' || extent.empty() ||
      extent.find_first_of(",=.\n") != std::string::npos || !(is_list || is_reduction))
    return std::nullopt;
  const std::string ours = fmt::format("{} {} < {} {{ {} }}", is_list ? "for" : function.text,
                                       index.text, extent, element);
  return replaced(is_list ? open : function.begin, close + 1, ours,
                  fmt::format("help: an index stands in front: `{}`", ours));
}

// `let rec f(x) = e`, `let f(x) = e`
Found let_function(std::string_view text, std::uint32_t at) {
  const Piece name =
      text.substr(at).starts_with('(') ? word_before(text, at) : word_after(text, at);
  Piece before = word_before(text, name.begin);
  const bool is_recursive = before.text == "rec";
  if (is_recursive) before = word_before(text, before.begin);
  if (before.text != "let" || name.text.empty()) return std::nullopt;
  return replaced(
      before.begin, name.begin, "def ",
      fmt::format("help: a function is defined by `def`, and may call itself: `def {}(…)`",
                  name.text));
}

// `def f x y = e`
Found bare_parameters(std::string_view text, std::uint32_t at) {
  const std::uint32_t end = at + static_cast<std::uint32_t>(std::min(
                                     text.substr(at).find_first_of("={\n"), text.size() - at));
  std::vector<std::string> names;
  for (Piece next = word_after(text, at); !next.text.empty() && next.end() <= end;
       next = word_after(text, next.end()))
    names.emplace_back(next.text);
  const Piece name = word_before(text, at);
  if (names.empty() || name.text.empty()) return std::nullopt;
  const std::string ours = fmt::format("({}) ", fmt::join(names, ", "));
  return replaced(name.end(), end, ours,
                  fmt::format("help: parameters stand in parentheses: `{}{}`", name.text,
                              trimmed(ours, 0, static_cast<std::uint32_t>(ours.size()))));
}

// Where the `d/dx` or `d / dx` that ends before `at` begins; nothing where there is none.
std::optional<std::uint32_t> differential_begin(std::string_view text, std::uint32_t at) {
  const Piece by = word_before(text, at);
  std::uint32_t slash = by.begin;
  while (slash > 0 && text[slash - 1] == ' ') --slash;
  if (by.text.size() < 2 || by.text.front() != 'd' || slash == 0 || text[slash - 1] != '/')
    return std::nullopt;
  const Piece sign = word_before(text, slash - 1);
  if (sign.text != "d") return std::nullopt;
  return sign.begin;
}

// `d/dx f`
Found differential(std::string_view text, std::uint32_t at) {
  const auto begin = differential_begin(text, at);
  const Piece function = word_after(text, at);
  if (!begin || function.text.empty() || is_digit(function.text.front())) return std::nullopt;
  const std::string ours = fmt::format("grad({})", function.text);
  return replaced(*begin, function.end(), ours, fmt::format("help: the derivative is `{}`", ours));
}

// Does it take one function, or one tensor?
bool takes_one(std::string_view function) {
  const lang::OpDef* op = lang::OpRegistry::instance().find(function);
  return lang::parse_diff_mode(function) || (op && op->inputs.size() == 1);
}

// `f(x, y)`, `sin(cos(x))` of `sin cos x`, and `grad(f)(x)`.
std::string call_of(std::string_view function, std::span<const std::string_view> args) {
  if (lang::parse_diff_mode(function)) {
    const std::string_view of = args[0].substr(0, args[0].find_first_of("(["));
    const std::string_view rest = args[0].substr(of.size());
    return args.size() == 1
               ? fmt::format("{}({}){}", function, of, rest)
               : fmt::format("{}({})({})", function, args[0], fmt::join(args.subspan(1), ", "));
  }
  if (args.size() > 1 && takes_one(args[0]))
    return fmt::format("{}({})", function, call_of(args[0], args.subspan(1)));
  return fmt::format("{}({})", function, fmt::join(args, ", "));
}

// `f x y`
Found juxtaposition(std::string_view text, std::uint32_t at) {
  const Piece function = word_before(text, at);
  const bool is_name = !function.text.empty() && !is_digit(function.text.front());
  const bool is_reserved = is_any_of(
      function.text, {"case", "switch", "from", "import", "raise", "throw", "where", "do", "try",
                      "begin", "class", "struct", "enum", "data", "while", "return"});
  const bool is_call = is_name && !is_reserved && !grammar::is_keyword(function.text, false) &&
                       !grammar::is_keyword(word_after(text, at).text, false);
  if (!is_call || function.begin == at || differential_begin(text, at)) return std::nullopt;
  std::vector<std::string_view> args;
  std::uint32_t end = at;
  for (Piece next = operand_after(text, at); !next.text.empty(); next = operand_after(text, end)) {
    if (is_any_of(next.text, {"is", "in", "of", "then", "and", "or", "not", "do"}))
      return std::nullopt;
    args.push_back(next.text);
    end = next.end();
  }
  if (args.empty()) return std::nullopt;
  const std::string ours = call_of(function.text, args);
  return replaced(function.begin, end, ours,
                  fmt::format("help: a call has parentheses: `{}`", ours));
}

// An operator of another language between two operands, of which ours is a function.
struct Infix {
  std::string_view sign;
  std::string_view before;  // how much of it stands before the error
  std::string_view ours;    // with `{0}` and `{1}` for the operands
  std::string_view help;
};
constexpr std::array kInfixes = {
    Infix{"::", "", "Cons({0}, {1})", "help: a list begins with `{}`"},
    Infix{"++", "+", "concatenate([{0}, {1}], 0)",
          "help: tensors are joined by `{}`, lists by `concat(xs, ys)`"},
    Infix{"<|", "<", "{0}({1})", "help: a call has parentheses: `{}`"},
    Infix{". ", "", "compose({0}, {1})", "help: one function after another is `{}`"},
    Infix{"<>", "<", "{0} != {1}", "help: write `{}`"},
    Infix{"=/=", "", "{0} != {1}", "help: write `{}`"},
    Infix{"&", "", "{0} && {1}", "help: write `{}`; the bits of integers are `bitwise_and`"},
    Infix{"|", "", "{0} || {1}", "help: write `{}`; the bits of integers are `bitwise_or`"},
};

// `a :: b :: Nil`
std::string list_of(std::string_view text) {
  std::string list;
  std::size_t count = 0;
  for (;; ++count) {
    const std::uint32_t sign = expression_end(text, 0, ":");
    const std::string element = trimmed(text, 0, sign);
    if (!text.substr(sign).starts_with("::"))
      return list + (element == "[]" ? "Nil" : element) + std::string(count, ')');
    list += fmt::format("Cons({}, ", element);
    text.remove_prefix(sign + 2);
  }
}

Found infix(std::string_view text, std::uint32_t at, const Infix& form) {
  if (at < form.before.size()) return std::nullopt;
  const auto sign = at - static_cast<std::uint32_t>(form.before.size());
  if (!text.substr(sign).starts_with(form.sign)) return std::nullopt;
  const std::uint32_t begin = expression_begin(text, sign);
  const std::uint32_t from = sign + static_cast<std::uint32_t>(form.sign.size());
  const std::uint32_t end = expression_end(text, from, ",");
  const std::string left = trimmed(text, begin, sign);
  std::string right = trimmed(text, from, end);
  if (form.sign == "::") right = list_of(right);
  if (left.empty() || right.empty()) return std::nullopt;
  if (form.sign == "::" && right.front() == '[') return std::nullopt;  // a tensor is no list
  const std::string ours = fmt::format(fmt::runtime(form.ours), left, right);
  return replaced(begin, end, ours, fmt::format(fmt::runtime(form.help), ours));
}

// `y++`, `y--`
Found step(std::string_view text, std::uint32_t at) {
  if (at == 0 || at >= text.size() || text[at - 1] != text[at] ||
      (text[at] != '+' && text[at] != '-'))
    return std::nullopt;
  const Piece name = word_before(text, at - 1);
  if (name.text.empty() || is_digit(name.text.front())) return std::nullopt;
  const std::string ours = fmt::format("let {0} = {0} {1} 1", name.text, text[at]);
  return replaced(name.begin, at + 1, ours,
                  fmt::format("help: a value gets a new binding: `{}`", ours));
}

// `Tensor[3]`, `Tensor[3, float32]`, `Tensor[(3)]`, `Tensor[float32, 3]`
Found tensor_type(std::string_view text, std::uint32_t at) {
  const std::size_t open = text.substr(0, at + 1).rfind("Tensor[");
  if (open == std::string_view::npos) return std::nullopt;
  const auto begin = static_cast<std::uint32_t>(open) + 7;
  const std::size_t close = text.find(']', begin);
  if (close == std::string_view::npos) return std::nullopt;
  const auto end = static_cast<std::uint32_t>(close);
  std::string dtype = "float32";
  std::vector<std::string> dims;
  for (std::uint32_t p = begin; p < end;) {
    const std::uint32_t next =
        p + static_cast<std::uint32_t>(std::min(text.substr(p, end - p).find_first_of(",()"),
                                                static_cast<std::size_t>(end - p)));
    const std::string part = trimmed(text, p, next);
    const bool is_dtype = part.starts_with("float") || part.starts_with("int") ||
                          part.starts_with("uint") || part == "bool" || part == "bfloat16";
    if (is_dtype) {
      dtype = part;
    } else if (!part.empty()) {
      dims.push_back(part);
    }
    p = next + 1;
  }
  const std::string ours = fmt::format("({}), {}", fmt::join(dims, ", "), dtype);
  return replaced(begin, end, ours,
                  fmt::format("help: a tensor type has a shape and a dtype: `Tensor[{}]`", ours));
}

}  // namespace

std::optional<Differential> differential_at(std::string_view text, std::uint32_t at) {
  std::uint32_t slash = at + 1;
  while (slash < text.size() && text[slash] == ' ') ++slash;
  if (slash >= text.size() || text[slash] != '/') return std::nullopt;
  const Piece by = word_after(text, slash + 1);
  if (!differential_begin(text, by.end())) return std::nullopt;
  std::uint32_t open = by.end();
  while (open < text.size() && text[open] == ' ') ++open;
  const bool is_applied = open < text.size() && text[open] == '(';
  const std::uint32_t end = is_applied ? expression_end(text, open + 1, "") : open;
  std::string of = is_applied ? trimmed(text, open + 1, end) : "";
  if (of.empty()) of = "f";
  const std::string_view variable = by.text.substr(1);
  const bool is_name = word_after(of, 0).text == of && !is_digit(of.front());
  return Differential{
      by.text, is_name
                   ? fmt::format("help: the derivative is `grad({})`", of)
                   : fmt::format("help: the derivative at `{0}` is `grad(fn ({0}) {{ {1} }})({0})`",
                                 variable, of)};
}

void add_forms(const lang::Diagnostic& error, std::string_view text, std::uint32_t at,
               std::vector<Edit>& edits) {
  const auto add = [&](Found edit) {
    if (edit) edits.push_back(std::move(*edit));
  };
  const std::string_view rest = text.substr(at);
  const Piece before = word_before(text, at);
  if (says(error, "after `;`")) add(semicolon_at_end(text, at));
  if (rest.starts_with(';') && says(error, "to close the list"))
    add(rows_by_semicolon(text, error.labels.front().span.begin));
  if (rest.starts_with("->") && says(error, "after the pattern")) add(arrows_of_match(text, at));
  if (rest.starts_with(':') && says(error, "to close the type")) {
    const std::size_t open = text.substr(0, at).rfind('{');
    if (open != std::string_view::npos)
      add(constructor_of_record(text, static_cast<std::uint32_t>(open),
                                static_cast<std::uint32_t>(open)));
  }
  if (rest.starts_with('=') && says(error, "a definition")) {
    const std::uint32_t open = skip_blanks(text, at + 1);
    if (text.substr(open).starts_with('{')) add(constructor_of_record(text, at, open));
  }
  if (rest.starts_with('{')) add(record_in_braces(text, at));
  if (says(error, "the branch taken")) add(bare_branches(text, at, false));
  if (says(error, "the other branch")) add(bare_branches(text, at, true));
  if (rest.starts_with('\\')) add(lambda_with_arrow(text, at, at + 1));
  if (rest.starts_with('|') && (says(error, "an expression") || says(error, "a function after")))
    add(lambda_in_bars(text, at));
  if (rest.starts_with("for ") &&
      (says(error, "to close the arguments") || says(error, "to close the list")))
    add(comprehension(text, error.labels.front().span.begin, at));
  if (is_any_of(before.text, {"fun", "fn"})) add(lambda_with_arrow(text, before.begin, at));
  if (rest.starts_with(':') && at > 0 && text[at - 1] == ')')
    edits.push_back({" ->", at, "help: the type of the result stands behind `->`", 1});
  if (says(error, "the function's body")) add(body_behind_arrow(text, at, says(error, "`=`")));
  if (says(error, "expected `=`")) add(let_function(text, at));
  if (rest.starts_with(',') && says(error, "expected `=`")) add(bare_pattern(text, at));
  if (rest.starts_with("if ") &&
      (says(error, "after the expression") || says(error, "to close the")))
    add(condition_behind(text, at));
  if (says(error, "and parameters")) add(bare_parameters(text, at));
  add(step(text, at));
  for (const Infix& form : kInfixes) add(infix(text, at, form));
  if (word_after(text, at).text == "in")
    edits.push_back({";", at, "help: a binding ends with `;`: `let x = 1; x + 1`", 2});
  if (says(error, "a shape such as") || says(error, "a dtype")) add(tensor_type(text, at));
  add(differential(text, at));
  // Where a comma may be missing, what stands in front has to be known as a function.
  const bool is_function = lang::OpRegistry::instance().find(before.text) != nullptr ||
                           lang::parse_diff_mode(before.text).has_value();
  if (says(error, "after the expression") || says(error, "after the binding") ||
      says(error, "to close the block") || (says(error, "`,`") && is_function))
    add(juxtaposition(text, at));
}

}  // namespace relay::parser
