#include "repl/completion/tokens.h"

#include <array>

#include "parser/comments.h"
#include "parser/lexical.h"

namespace relay::repl::completion {

namespace grammar = parser::grammar;

namespace {

constexpr std::array<std::string_view, 12> kLongSigns = {
    "...", "=>", "->", "|>", "==", "<=", ">=", "!=", "&&", "||", "/*", "//"};

std::size_t sign_length(std::string_view rest) {
  for (const std::string_view sign : kLongSigns) {
    if (rest.starts_with(sign)) return sign.size();
  }
  return 1;
}

// One that does not end on its line is open there, and the next line is read as if it had ended.
const char* end_of_string(const char* begin, const char* end, bool& is_open) {
  const char* p = begin + 1;
  while (p != end && *p != '"' && *p != '\n') p += *p == '\\' && end - p > 1 ? 2 : 1;
  is_open = p == end || *p != '"';
  return is_open ? p : p + 1;
}

// A line comment at the end has no line break behind it.
bool is_line_comment(std::string_view gap) {
  const std::size_t line = gap.rfind('\n');
  const std::string_view last = line == std::string_view::npos ? gap : gap.substr(line + 1);
  return last.find("//") != std::string_view::npos && !last.ends_with("*/");
}

}  // namespace

Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  while (true) {
    const parser::Gap gap = parser::skip_gap(at, end, parser::Breaks::Skip);
    const std::string_view between(at, static_cast<std::size_t>(gap.end - at));
    const bool first_on_line = tokens.list.empty() || between.find('\n') != std::string_view::npos;
    at = gap.end;
    if (at == end) {
      tokens.ends_in_comment = gap.open_comment || is_line_comment(between);
      return tokens;
    }
    Token token{TokenKind::Sign,
                static_cast<std::size_t>(at - text.data()),
                0,
                first_on_line,
                at == text.data() || at[-1] == '\n',
                false,
                {}};
    const char* stop = at + 1;
    if (*at == '"') {
      token.kind = TokenKind::String;
      stop = end_of_string(at, end, token.is_open);
    } else if (const char* number = grammar::scan_light_number(at, end)) {
      token.kind = TokenKind::Number;
      stop = number;
    } else if (const std::string_view name = grammar::scan_name(at, end, false); !name.empty()) {
      token.kind = TokenKind::Word;
      stop = at + name.size();
    } else {
      stop = at + sign_length({at, static_cast<std::size_t>(end - at)});
    }
    token.text = {at, static_cast<std::size_t>(stop - at)};
    token.end = token.begin + token.text.size();
    tokens.list.push_back(token);
    at = stop;
  }
}

std::size_t begin_of_name(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && grammar::is_word(text[begin - 1])) --begin;
  return begin;
}

}  // namespace relay::repl::completion
