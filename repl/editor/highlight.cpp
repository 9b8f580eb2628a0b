#include "repl/editor/highlight.h"

#include <algorithm>
#include <array>
#include <optional>

#include "interp/stack.h"
#include "lang/stop.h"
#include "parser/tokens.h"

namespace relay::repl::editor {

namespace {

using parser::Token;
using parser::TokenKind;

Face face_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::Keyword:
      return Face::Keyword;
    case TokenKind::Number:
      return Face::Number;
    case TokenKind::String:
      return Face::String;
    case TokenKind::Comment:
      return Face::Comment;
    case TokenKind::Name:
    case TokenKind::Operator:
    case TokenKind::Open:
    case TokenKind::Close:
      return Face::Plain;
  }
  return Face::Plain;
}

constexpr std::string_view kBrackets = "()[]{}";

bool are_partners(char open, char close) {
  const std::size_t at = kBrackets.find(open);
  return kBrackets[at + 1] == close;
}

// The bracket behind the cursor, or the one right before it, and its partner.
void mark_brackets(std::string_view text, std::size_t cursor, const std::vector<Token>& tokens,
                   std::vector<Face>& faces) {
  std::vector<const Token*> open;
  std::optional<std::array<std::size_t, 2>> found;
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::Open) open.push_back(&token);
    if (token.kind != TokenKind::Close || open.empty()) continue;
    const Token& first = *open.back();
    open.pop_back();
    if (!are_partners(text[first.begin], text[token.begin])) continue;
    const bool is_behind = first.begin == cursor || token.begin == cursor;
    const bool is_before = first.end == cursor || token.end == cursor;
    if (is_behind || (is_before && !found)) found = {first.begin, token.begin};
    if (is_behind) break;
  }
  if (!found) return;
  for (const std::size_t at : *found) faces[at] = Face::Matched;
}

std::optional<parser::Place> mistake_in(std::string_view text) {
  std::optional<parser::Place> place;
  interp::EvaluationStack::instance().run([&] {
    const auto known = lang::capture([&] { return parser::mistake_in(text); });
    if (known) place = *known;
  });
  return place;
}

void mark_mistake(std::string_view text, std::size_t cursor, std::vector<Face>& faces) {
  const auto place = mistake_in(text);
  if (!place || place->begin >= text.size()) return;
  const std::size_t end = std::min(std::max(place->end, place->begin + 1), text.size());
  if (cursor > place->begin && cursor <= end) return;  // it is being typed
  for (std::size_t i = place->begin; i < end && text[i] != '\n'; ++i) faces[i] = Face::Mistake;
}

}  // namespace

std::string_view sequence_of(Face face) {
  switch (face) {
    case Face::Plain:
      return "\x1b[0m";
    case Face::Prompt:
      return "\x1b[0;1m";
    case Face::Keyword:
      return "\x1b[0;35m";
    case Face::Number:
      return "\x1b[0;36m";
    case Face::String:
      return "\x1b[0;32m";
    case Face::Comment:
      return "\x1b[0;90m";
    case Face::Command:
      return "\x1b[0;34m";
    case Face::Matched:
      return "\x1b[0;1;33m";
    case Face::Mistake:
      return "\x1b[0;4;31m";
    case Face::Detail:
      return "\x1b[0;2m";
    case Face::Selected:
      return "\x1b[0;7m";
  }
  return "";
}

bool is_command(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return false;
  const std::size_t last = text.find_last_not_of(" \t\n");
  return text[first] == ':' || text[first] == '?' || text[last] == '?';
}

std::vector<Face> faces_of(std::string_view text, std::size_t cursor) {
  std::vector<Face> faces(text.size(), Face::Plain);
  const std::vector<Token> tokens = parser::tokens_of(text);
  const bool commands = is_command(text);
  for (const Token& token : tokens) {
    const Face face = face_of(token.kind);
    std::fill(faces.begin() + static_cast<std::ptrdiff_t>(token.begin),
              faces.begin() + static_cast<std::ptrdiff_t>(token.end), face);
  }
  if (commands) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (text[first] == ':')
      for (std::size_t i = first; i < text.size() && text[i] != ' ' && text[i] != '\n'; ++i)
        faces[i] = Face::Command;
  } else {
    mark_mistake(text, cursor, faces);
  }
  mark_brackets(text, cursor, tokens, faces);
  return faces;
}

}  // namespace relay::repl::editor
