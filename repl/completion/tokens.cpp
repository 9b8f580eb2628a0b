#include "repl/completion/tokens.h"

#include "lang/letters.h"
#include "parser/tokens.h"

namespace relay::repl::completion {

namespace {

TokenKind kind_of(parser::TokenKind kind) {
  switch (kind) {
    case parser::TokenKind::Keyword:
    case parser::TokenKind::Name:
      return TokenKind::Word;
    case parser::TokenKind::Number:
      return TokenKind::Number;
    case parser::TokenKind::String:
      return TokenKind::String;
    default:
      return TokenKind::Sign;
  }
}

// `=>` and the like are two signs to the lexer, and one here.
bool is_arrow(std::string_view written) {
  return written == "=>" || written == "->" || written == "|>" || written == ".." ||
         written == "...";
}

}  // namespace

Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  std::size_t before = 0;  // the end of the token before
  for (const parser::Token& each : parser::tokens_of(text, parser::Strings::OnTheirLine)) {
    const std::string_view written = text.substr(each.begin, each.end - each.begin);
    if (each.kind == parser::TokenKind::Comment) {
      tokens.ends_in_comment =
          each.end == text.size() && (each.is_open || written.starts_with("//"));
      continue;
    }
    if (!tokens.list.empty() && tokens.list.back().end == each.begin) {
      Token& last = tokens.list.back();
      const std::string_view both = text.substr(last.begin, each.end - last.begin);
      if (is_arrow(both)) {
        last.text = both;
        last.end = before = each.end;
        continue;
      }
    }
    const std::string_view between = text.substr(before, each.begin - before);
    tokens.list.push_back({kind_of(each.kind), each.begin, each.end,
                           tokens.list.empty() || between.find('\n') != std::string_view::npos,
                           each.begin == 0 || text[each.begin - 1] == '\n', each.is_open, written});
    before = each.end;
  }
  return tokens;
}

std::size_t begin_of_name(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (const std::size_t length = lang::word_length_at_end(text.substr(0, begin)))
    begin -= length;
  return begin;
}

}  // namespace relay::repl::completion
