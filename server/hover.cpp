#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/print.h"
#include "parser/tokens.h"
#include "repl/command.h"
#include "repl/completion/probe.h"
#include "server/features.h"
#include "server/target.h"

namespace relay::server {

using parser::NameKind;
using parser::Occurrence;

namespace {

std::string as_code(const std::string& text) {
  return fmt::format("```relay\n{}{}```", text, text.ends_with('\n') ? "" : "\n");
}

// What `:doc` says: usage, then prose, then the example.
std::string shown_doc(const std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string shown = as_code(text.substr(0, end));
  if (end + 1 < text.size()) shown += "\n\n```text\n" + text.substr(end + 1) + "```";
  return shown;
}

// The type of the derivative of a function; empty where there is none.
std::string gradient_type(Analysis& analysis, const std::string& name) {
  const auto type = analysis.checker().type_of(
      lang::make_differentiate(lang::DiffMode::Grad, lang::make_global_var(name)));
  return type ? to_string(*type) : std::string();
}

std::string about_global(Analysis& analysis, const Occurrence& occurrence) {
  const lang::Definition* definition = analysis.module().lookup(occurrence.name);
  if (!definition) return "";
  const auto scheme = analysis.checker().scheme(definition->name);
  const std::string name(occurrence.span.text());
  std::string text = fmt::format("{} : {}", name, scheme ? to_string(*scheme) : "_");
  if (definition->parameters) text = lang::usage_of(name, *definition->parameters) + "\n" + text;
  if (definition->function && scheme) {
    if (const std::string gradient = gradient_type(analysis, definition->name); !gradient.empty())
      text += fmt::format("\ngrad({}) : {}", name, gradient);
  }
  std::string shown = as_code(text);
  if (!definition->doc.empty()) shown += "\n\n" + definition->doc;
  if (definition->origin == lang::Origin::Imported && definition->span)
    shown += fmt::format("\n\nfrom `{}`", definition->span.source->name());
  if (definition->origin == lang::Origin::Prelude) shown += "\n\nfrom the prelude";
  return shown;
}

std::string about_type(const lang::TypeDef& type) {
  std::string shown = as_code(lang::print_light_type_def(type));
  if (!type.doc.empty()) shown += "\n\n" + type.doc;
  return shown;
}

// Of an operator: what `:doc` and `:source` say.
std::string about_operator(Analysis& analysis, const std::string& name) {
  const repl::CommandOutcome doc = repl::run_command(analysis.session(), ":doc " + name);
  std::string shown = shown_doc(doc.text);
  const auto source = analysis.session().source(name);
  if (source) shown += "\n\n" + as_code(*source);
  return shown;
}

// The type where a name stands: of its first mention in the order of inference, before it is turned
// into what its place needs.
std::string about_local(Analysis& analysis, const Occurrence& occurrence) {
  std::string found;
  if (const parser::Item* item = analysis.item_at(occurrence.span.begin)) {
    for (const typecheck::TypeAt& each : analysis.types_in(*item)) {
      if (each.span == occurrence.span && found.empty()) found = repl::completion::shown(each.type);
    }
  }
  if (found.empty()) found = "_";
  return as_code(fmt::format("{} : {}", std::string_view(occurrence.span.text()), found));
}

std::string about_name(Analysis& analysis, const Occurrence& occurrence) {
  switch (occurrence.kind) {
    case NameKind::Global:
      return about_global(analysis, occurrence);
    case NameKind::Operator:
      return about_operator(analysis, occurrence.name);
    case NameKind::Type:
      if (const lang::TypeDef* type = analysis.module().find_type(occurrence.name))
        return about_type(*type);
      return "";
    case NameKind::Constructor:
      if (const auto* constructor = analysis.module().find_constructor(occurrence.name))
        return "constructor of\n\n" + about_type(*constructor->owner);
      return "";
    case NameKind::TypeVariable:
      return as_code(fmt::format("{}: a variable in types", occurrence.name));
    case NameKind::Parameter:
      return as_code(fmt::format("{}: a parameter of {}", std::string_view(occurrence.span.text()),
                                 occurrence.name.substr(0, occurrence.name.rfind('.'))));
    case NameKind::Local:
      return about_local(analysis, occurrence);
    case NameKind::Field:
      break;
  }
  return "";
}

}  // namespace

Json hover(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  Analysis& analysis = document.analysis();
  const std::string& text = document.text();
  const std::size_t offset = document.lines().offset(text, member(params, "position"));
  const Occurrence* occurrence = analysis.occurrence_at(offset);
  std::string shown;
  lang::Span span;
  if (occurrence) {
    span = occurrence->span;
    analysis.within_limits([&] { shown = about_name(analysis, *occurrence); });
  }
  if (!shown.empty()) {
    return {{"contents", {{"kind", "markdown"}, {"value", shown}}},
            {"range", document.range(span)}};
  }
  // A word or sign of the language, else an expression.
  for (const parser::Token& token : parser::tokens_of(text)) {
    const bool is_here = token.begin <= offset && offset < token.end;
    if (!is_here || token.kind == parser::TokenKind::Comment) continue;
    const std::string word = text.substr(token.begin, token.end - token.begin);
    const bool is_word = token.kind == parser::TokenKind::Keyword ||
                         (token.kind == parser::TokenKind::Name && !occurrence);
    if (is_word) {
      const repl::CommandOutcome doc = repl::run_command(analysis.session(), ":doc " + word);
      if (doc.errors.empty() && !doc.text.empty()) {
        return {{"contents", {{"kind", "markdown"}, {"value", shown_doc(doc.text)}}},
                {"range", document.lines().range(text, token.begin, token.end)}};
      }
    }
    const std::optional<typecheck::TypeAt> type = analysis.type_at(offset);
    if (!type) return nullptr;
    const std::string type_text = repl::completion::shown(type->type);
    if (type_text.empty()) return nullptr;
    return {{"contents", {{"kind", "markdown"}, {"value", as_code(type_text)}}},
            {"range", document.range(type->span)}};
  }
  return nullptr;
}

}  // namespace relay::server
