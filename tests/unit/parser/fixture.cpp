#include "tests/unit/parser/fixture.h"

#include <deque>

#include "lang/print.h"
#include "stdlib/register.h"

namespace relay::parser::test {
namespace {

constexpr std::string_view kHeader = "#[version = \"0.0.5\"]\n";

// Spans point into sources, so they stay for the whole run.
const lang::Source& keep(std::string text) {
  static std::deque<lang::Source> sources;
  return sources.emplace_back("test", std::move(text));
}

std::string place(lang::Span span) {
  return std::to_string(span.begin) + "-" + std::to_string(span.end);
}

std::string show(const lang::Diagnostic& diagnostic) {
  std::string text = std::string(lang::name_of(diagnostic.kind)) + " " + place(diagnostic.span) +
                     ": " + diagnostic.message;
  for (const lang::Label& label : diagnostic.labels)
    text += "\n  label " + place(label.span) + ": " + label.text;
  for (const std::string& note : diagnostic.notes) text += "\n  " + note;
  return text;
}

std::string show(const Item& item) {
  std::string text;
  if (!item.doc.empty()) text += "doc: " + item.doc + "\n";
  switch (item.kind) {
    case ItemKind::Def:
      return text + lang::print_definition(item.name, item.expr);
    case ItemKind::Type:
      return text + lang::print_type_def(*item.type_def);
    case ItemKind::Let: {
      const std::string annotation = item.annotation ? ": " + lang::to_string(item.annotation) : "";
      return text + "top let " + item.name + annotation + " = " + lang::print(item.expr);
    }
    case ItemKind::Import:
      return text + "import " + item.name;
    case ItemKind::Expression:
      return text + lang::print(item.expr) + (item.hide_value ? ";" : "");
  }
  return text;
}

}  // namespace

std::string read(std::string_view text, Notation notation, const lang::Module& scope) {
  stdlib::register_operators();
  const lang::Result<Parsed> parsed = parse(keep(std::string(text)), scope, notation);
  std::string shown;
  if (!parsed.ok()) {
    for (const lang::Diagnostic& diagnostic : parsed.errors())
      shown += (shown.empty() ? "" : "\n") + show(diagnostic);
    return shown;
  }
  for (const Item& item : parsed->items) shown += (shown.empty() ? "" : "\n") + show(item);
  return shown;
}

std::string light(std::string_view text, const lang::Module& scope) {
  return read(text, Notation::Light, scope);
}

std::string strict(std::string_view text, const lang::Module& scope) {
  return read(std::string(kHeader) + std::string(text), Notation::Auto, scope);
}

std::string again(std::string_view text, Notation notation) {
  const std::string printed = read(text, notation);
  return read(std::string(kHeader) + printed, Notation::Strict);
}

lang::Module prelude() {
  lang::Module scope;
  const lang::Source& source =
      keep("type List[A] { Nil, Cons(A, List[A]) }\ndef twice(f, x) { f(f(x)) }");
  const lang::Result<Parsed> parsed = parse(source, scope, Notation::Light);
  for (const Item& item : parsed->items) {
    if (item.type_def) {
      scope.define(item.type_def);
    } else {
      scope.define({item.name, item.expr, nullptr, lang::Origin::Prelude, "", item.span});
    }
  }
  scope.define(
      {"half", nullptr, lang::scalar_type(lang::DType::Float32), lang::Origin::Own, "", {}});
  return scope;
}

}  // namespace relay::parser::test
