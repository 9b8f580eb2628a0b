#include "parser/messages.h"

#include <fmt/format.h>

#include "parser/comments.h"
#include "parser/scan.h"

namespace relay::parser {
namespace {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Source;
using lang::Span;

std::uint32_t next_token(std::string_view text, std::uint32_t at) {
  const Gap gap = skip_gap(text.data() + at, text.data() + text.size(), Breaks::Skip);
  return static_cast<std::uint32_t>(gap.end - text.data());
}

// Where the token at `at` ends: a word, a string, a sigil with its word, a character (all bytes of
// it).
std::uint32_t token_end(std::string_view text, std::uint32_t at) {
  std::uint32_t p = at;
  const std::uint32_t size = static_cast<std::uint32_t>(text.size());
  if (p == size) return p;
  const char c = text[p];
  if (c == '"') {
    const std::size_t close = text.find('"', p + 1);
    return close == std::string_view::npos ? size : static_cast<std::uint32_t>(close + 1);
  }
  const char* const word = text.data() + p + (c == '%' || c == '@' ? 1 : 0);
  const char* const end_of_word = grammar::scan_word(word, text.data() + size);
  if (end_of_word != word) return static_cast<std::uint32_t>(end_of_word - text.data());
  ++p;
  if (static_cast<unsigned char>(c) >= 0x80) {
    while (p < size && (static_cast<unsigned char>(text[p]) & 0xC0) == 0x80) ++p;
  } else if (p < size) {
    const std::string_view two = text.substr(at, 2);
    for (const std::string_view pair : {"==", "!=", "<=", ">=", "=>", "->", "|>", "&&", "||"}) {
      if (two == pair) return p + 1;
    }
  }
  return p;
}

// A definition in the first column, where nobody puts one inside brackets.
bool begins_definition(std::string_view text, std::uint32_t at) {
  if (at >= text.size() || (at > 0 && text[at - 1] != '\n')) return false;
  const std::string_view word = text.substr(at, token_end(text, at) - at);
  return word == "def" || word == "type" || word == "extern" || word == "import";
}

// The byte of code before `at` (comments count as code here); 0 at the beginning.
char before(std::string_view text, std::uint32_t at) {
  const std::size_t found = text.substr(0, at).find_last_not_of(" \t\r\n");
  return found == std::string_view::npos ? '\0' : text[found];
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

}  // namespace

std::string describe_token(std::string_view text, std::uint32_t at) {
  if (at >= text.size()) return "the end of the text";
  const std::string_view token = text.substr(at, token_end(text, at) - at);
  if (is_control(token[0]))
    return fmt::format("the byte 0x{:02X}", static_cast<unsigned char>(token[0]));
  if (token == "`") return "a backtick";
  constexpr std::size_t kLongest = 40;
  if (token.size() <= kLongest && token.find('\n') == std::string_view::npos) {
    return fmt::format("`{}`", token);
  }
  return token[0] == '"' ? "a string" : "a long word";
}

SyntaxStop expected(const Source& source, std::uint32_t at, std::string_view what,
                    const Opener* innermost) {
  const std::string_view text = source.text();
  const std::uint32_t begin = next_token(text, at);
  if (innermost && begins_definition(text, begin)) {
    const char open = text[innermost->at];
    return expected_closer(source, at,
                           open == '('   ? "`)`"
                           : open == '[' ? "`]`"
                                         : "`}`",
                           *innermost);
  }
  const std::uint32_t end = token_end(text, begin);
  const std::string_view token = text.substr(begin, end - begin);
  const bool is_keyword = grammar::is_keyword(token, false);
  std::string found = describe_token(text, begin);
  if (is_keyword) found = fmt::format("the keyword {}", found);
  const bool lacks_value =
      what == "an expression" && (token == "}" || token == ")") && before(text, begin) == ';';
  if (lacks_value) what = "an expression after `;`";
  Diagnostic diagnostic(DiagnosticKind::SyntaxError,
                        fmt::format("expected {}, found {}", what, found),
                        Span{&source, begin, end});
  if (lacks_value) diagnostic.note("help: the last expression of a block is its value");
  if ((token.starts_with('@') || token.starts_with('%')) &&
      grammar::is_keyword(token.substr(1), false))
    diagnostic.note(fmt::format("note: `{}` is a keyword", token.substr(1)));
  if (token == "if" && what.starts_with("`{`"))
    diagnostic.note("help: strict text has no `else if`: write `else { if ... }`");
  return {std::move(diagnostic), begin == text.size()};
}

SyntaxStop expected_closer(const Source& source, std::uint32_t at, std::string_view closer,
                           const Opener& opener) {
  const Source::Position place = source.place(opener.at);
  SyntaxStop stop = expected(
      source, at,
      fmt::format("{} to close {} opened at {}:{}", closer, opener.what, place.line, place.column));
  stop.diagnostic.label({&source, opener.at, opener.at + 1}, "opened here");
  return stop;
}

SyntaxStop never_closed(const Source& source, std::uint32_t at, std::string_view what) {
  Diagnostic diagnostic(DiagnosticKind::SyntaxError, fmt::format("{} is never closed", what),
                        Span{&source, at, at + (what == "this comment" ? 2u : 1u)});
  return {std::move(diagnostic), true};
}

SyntaxStop too_deep(const Source& source, std::uint32_t at, int limit) {
  Diagnostic diagnostic(DiagnosticKind::NestingTooDeep,
                        fmt::format("this is nested more than {} levels deep", limit),
                        Span{&source, at, token_end(source.text(), at)});
  diagnostic.note("help: name inner parts with `let`");
  return {std::move(diagnostic), false};
}

}  // namespace relay::parser
