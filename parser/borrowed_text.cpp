#include "parser/borrowed_text.h"

#include <fmt/format.h>

#include "lang/letters.h"

namespace relay::parser {
Piece word_before(std::string_view text, std::uint32_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  std::uint32_t begin = at;
  for (;;) {
    const bool is_dot = begin > 0 && text[begin - 1] == '.';
    const std::size_t length = is_dot ? 1 : lang::word_length_at_end(text.substr(0, begin));
    if (length == 0) break;
    begin -= static_cast<std::uint32_t>(length);
  }
  return {begin, text.substr(begin, at - begin)};
}

Piece word_after(std::string_view text, std::uint32_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  std::uint32_t end = at;
  for (;;) {
    const bool is_dot = end < text.size() && text[end] == '.';
    const std::size_t length = is_dot ? 1 : lang::word_length(text.substr(end));
    if (length == 0) break;
    end += static_cast<std::uint32_t>(length);
  }
  return {at, text.substr(at, end - at)};
}

bool begins_statement(std::string_view text, std::uint32_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  return at == 0 || std::string_view("\n;{").find(text[at - 1]) != std::string_view::npos;
}

Piece operand_before(std::string_view text, std::uint32_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  std::uint32_t begin = at;
  while (begin > 0 && (text[begin - 1] == ')' || text[begin - 1] == ']')) {
    int depth = 0;
    do {
      if (begin == 0) return {at, {}};
      const char c = text[--begin];
      if (c == ')' || c == ']' || c == '}') ++depth;
      if (c == '(' || c == '[' || c == '{') --depth;
    } while (depth > 0);
  }
  const Piece word = word_before(text, begin);
  if (word.end() == begin) begin = word.begin;
  return {begin, text.substr(begin, at - begin)};
}

Piece operand_after(std::string_view text, std::uint32_t at) {
  const Piece word = word_after(text, at);
  std::uint32_t end = word.end();
  while (!word.text.empty() && end < text.size() && (text[end] == '(' || text[end] == '[')) {
    const std::uint32_t close = expression_end(text, end + 1, "");
    if (close >= text.size() || (text[close] != ')' && text[close] != ']')) break;
    end = close + 1;
  }
  return {word.begin, text.substr(word.begin, end - word.begin)};
}

std::string_view without_parentheses(std::string_view text) {
  const bool is_whole = text.starts_with('(') && expression_end(text, 1, ",") + 1 == text.size();
  return is_whole ? text.substr(1, text.size() - 2) : text;
}

std::uint32_t expression_end(std::string_view text, std::uint32_t at, std::string_view stops) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth-- == 0) break;
    if (depth == 0 && (c == '\n' || c == ';' || stops.find(c) != std::string_view::npos)) break;
  }
  return at;
}

std::uint32_t expression_begin(std::string_view text, std::uint32_t at) {
  int depth = 0;
  for (; at > 0; --at) {
    const char c = text[at - 1];
    if (c == ')' || c == ']' || c == '}') ++depth;
    if ((c == '(' || c == '[' || c == '{') && depth-- == 0) break;
    const bool is_compared =
        at > 1 && std::string_view("=!<>").find(text[at - 2]) != std::string_view::npos;
    const bool is_binding = c == '=' && !is_compared && at < text.size() && text[at] == ' ';
    if (depth == 0 && (c == '\n' || c == ';' || c == ',' || is_binding)) break;
  }
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

std::string trimmed(std::string_view text, std::uint32_t begin, std::uint32_t end) {
  while (begin < end && text[begin] == ' ') ++begin;
  while (end > begin && text[end - 1] == ' ') --end;
  return std::string(text.substr(begin, end - begin));
}

Edit replaced(std::uint32_t begin, std::uint32_t end, std::string by, const std::string& help) {
  return {std::move(by), begin, help, end - begin};
}

Edit function_of(std::string_view text, std::uint32_t begin, std::string_view params,
                 std::uint32_t body) {
  const std::uint32_t end = expression_end(text, body, ",");
  const std::string ours = fmt::format("fn ({}) {{ {} }}", params, trimmed(text, body, end));
  return replaced(begin, end, ours, fmt::format("help: a function is `{}`", ours));
}

bool says(const lang::Diagnostic& error, std::string_view what) {
  return error.message.find(what) != std::string::npos;
}

}  // namespace relay::parser
