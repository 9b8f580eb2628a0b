#include <string>

#include "repl/completion/probe.h"
#include "server/features.h"

namespace relay::server {

using parser::NameKind;
using parser::Occurrence;

namespace {

// Does the text say the type itself, `x: T`? `end`: behind the name.
bool is_annotated(std::string_view text, std::size_t end) {
  const std::size_t next = text.find_first_not_of(" \t", end);
  return next != std::string_view::npos && text[next] == ':';
}

std::string type_of_binding(Analysis& analysis, const Occurrence& name) {
  if (name.kind == NameKind::Global) {
    const lang::Definition* definition = analysis.module().lookup(name.name);
    return definition && !definition->function && definition->value_type
               ? repl::completion::shown(definition->value_type)
               : std::string();
  }
  const parser::Item* item = analysis.item_at(name.span.begin);
  if (!item) return "";
  for (const typecheck::TypeAt& each : analysis.types_in(*item)) {
    if (each.is_variable && each.span == name.span) return repl::completion::shown(each.type);
  }
  return "";
}

}  // namespace

// Types behind names that are introduced without one: those of values, by shape and dtype;
// functions are left out, whose types are long.
Json inlay_hints(Workspace& workspace, const Json& params) {
  constexpr int kType = 1;
  Document& document = workspace.document(params);
  Analysis& analysis = document.analysis();
  const std::string& text = document.text();
  const Json& range = member(params, "range");
  const std::size_t begin = document.lines().offset(text, member(range, "start"));
  const std::size_t end = document.lines().offset(text, member(range, "end"));
  Json hints = Json::array();
  for (const Occurrence& each : analysis.occurrences()) {
    const bool is_value = each.kind == NameKind::Local || each.kind == NameKind::Global;
    if (!each.is_definition || !is_value) continue;
    if (each.span.begin < begin || each.span.end > end) continue;
    if (is_annotated(text, each.span.end)) continue;
    const std::string type = type_of_binding(analysis, each);
    if (type.empty() || type == "_" || type.starts_with("fn ")) continue;
    hints.push_back({{"position", document.lines().position(text, each.span.end)},
                     {"label", ": " + type},
                     {"kind", kType},
                     {"paddingLeft", false}});
  }
  return hints;
}

}  // namespace relay::server
