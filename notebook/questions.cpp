// What an editor asks about a cell: completions, what a name means, whether it is complete.

#include <algorithm>
#include <optional>

#include "interp/stack.h"
#include "lang/stop.h"
#include "notebook/cells.h"
#include "notebook/positions.h"
#include "notebook/requests.h"
#include "parser/tokens.h"
#include "repl/command.h"
#include "repl/command_parts.h"
#include "repl/entry_lines.h"

namespace relay::notebook {

namespace {

using parser::Token;
using parser::TokenKind;

bool is_name(const Token& token) {
  return token.kind == TokenKind::Name || token.kind == TokenKind::Keyword;
}

std::string text_of(const Token& token, std::string_view text) {
  return std::string(text.substr(token.begin, token.end - token.begin));
}

// The name that the cursor touches.
std::optional<std::string> name_at(std::string_view text, std::size_t cursor) {
  std::optional<std::string> name;
  for (const Token& token : parser::tokens_of(text)) {
    if (token.begin > cursor) break;
    const bool touches = token.end >= cursor;
    if (touches && (is_name(token) || (token.kind == TokenKind::Operator && !name)))
      name = text_of(token, text);
  }
  return name;
}

// The name before the bracket that is open at the cursor.
std::optional<std::string> function_around(std::string_view text, std::size_t cursor) {
  std::vector<std::optional<std::string>> open;
  const Token* before = nullptr;
  const std::vector<Token> tokens = parser::tokens_of(text);
  for (const Token& token : tokens) {
    if (token.begin >= cursor) break;
    if (token.kind == TokenKind::Open) {
      open.push_back(before && is_name(*before) ? std::optional(text_of(*before, text))
                                                : std::nullopt);
    } else if (token.kind == TokenKind::Close && !open.empty()) {
      open.pop_back();
    }
    before = &token;
  }
  for (auto each = open.rbegin(); each != open.rend(); ++each) {
    if (*each) return *each;
  }
  return std::nullopt;
}

std::string said_by(repl::Session& session, const std::string& command) {
  const repl::CommandOutcome outcome = repl::run_command(session, command);
  return outcome.errors.empty() ? outcome.text : "";
}

}  // namespace

repl::Completions Cells::complete(std::string_view cell, std::size_t cursor) {
  const Request request;
  const Part part = part_at(cell, cursor);
  const auto known = lang::capture([&] {
    return session_->complete(cell.substr(part.begin, part.end - part.begin), cursor - part.begin);
  });
  repl::Completions found = known ? *known : repl::Completions{cursor, cursor, {}};
  if (known) {
    found.begin += part.begin;
    found.end += part.begin;
  }
  return found;
}

std::string Cells::about(const std::string& name, bool is_thorough) {
  std::string text = said_by(*session_, ":doc " + name);
  if (is_thorough && !text.empty()) text += "\n" + said_by(*session_, ":info " + name);
  return text;
}

std::string Cells::inspect(std::string_view cell, std::size_t cursor, bool is_thorough) {
  const Request request;
  const Part part = part_at(cell, cursor);
  const std::string_view text = cell.substr(part.begin, part.end - part.begin);
  const std::size_t at = cursor - part.begin;
  const auto said = lang::capture([&]() -> std::string {
    if (part.is_command && text.starts_with(':') && at <= repl::split_word(text).first.size()) {
      const auto command = repl::find_command(repl::split_word(text).first);
      return command ? repl::describe_command(**command) : "";
    }
    for (const auto& name : {name_at(text, at), function_around(text, at)}) {
      if (!name) continue;
      if (std::string found = about(*name, is_thorough); !found.empty()) return found;
    }
    return "";
  });
  return said ? *said : "";
}

Cells::Completeness Cells::completeness_of(std::string_view cell) {
  const Request request;
  using State = Completeness::State;
  if (!repl::is_complete_block(cell, false)) {
    std::string_view line = cell.substr(cell.rfind('\n') + 1);
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t last = line.find_last_not_of(' ');
    const bool opens = last != std::string_view::npos &&
                       std::string_view("([{=").find(line[last]) != std::string_view::npos;
    return {State::Incomplete, std::string(spaces + (opens ? 2 : 0), ' ')};
  }
  const Part part = part_at(cell, cell.size());
  if (part.is_command) return {State::Complete, ""};
  bool is_wrong = false;
  interp::EvaluationStack::instance().run([&] {
    const auto mistake =
        lang::capture([&] { return parser::mistake_in(cell.substr(part.begin)).has_value(); });
    is_wrong = mistake && *mistake;
  });
  return {is_wrong ? State::Invalid : State::Complete, ""};
}

}  // namespace relay::notebook
