#include "tests/unit/typecheck/fixture.h"

#include "lang/print.h"
#include "parser/parse.h"
#include "stdlib/prelude.h"
#include "stdlib/register.h"
#include "typecheck/verify.h"

using namespace relay::lang;
using relay::typecheck::Checker;

namespace {

std::string text_of(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += "\n";
    text += std::string(name_of(diagnostic.kind)) + ": " + diagnostic.message;
    for (const Label& label : diagnostic.labels) {
      text += "\n  at '" + std::string(label.span.text()) + "': " + label.text;
    }
    for (const std::string& note : diagnostic.notes) text += "\n  " + note;
  }
  return text;
}

}  // namespace

TypecheckFixture::TypecheckFixture() {
  relay::stdlib::register_operators();
  checker_ = std::make_unique<Checker>(module_);
  for (const relay::stdlib::EmbeddedFile& file : relay::stdlib::embedded_files()) {
    if (file.name == "prelude.relay") define(std::string(file.text));
  }
}

void TypecheckFixture::define(const std::string& text) {
  const Source* source = sources_.add("test", text);
  auto parsed = relay::parser::parse(*source, module_);
  if (!parsed) throw std::runtime_error(text_of(parsed.errors()));
  for (relay::parser::Item& item : parsed->items) {
    if (item.type_def) {
      module_.define(item.type_def);
    } else if (item.kind == relay::parser::ItemKind::Def) {
      Definition definition;
      definition.name = item.name;
      definition.function = item.expr;
      definition.span = item.span;
      module_.define(std::move(definition));
      checker_->forget(item.name);
    }
  }
}

Expr TypecheckFixture::expression(const std::string& text) {
  const Source* source = sources_.add("test", text);
  auto parsed = relay::parser::parse(*source, module_);
  if (!parsed) throw std::runtime_error(text_of(parsed.errors()));
  return parsed->items.back().expr;
}

Type TypecheckFixture::type(const std::string& text) {
  return relay::parser::parse_type(*sources_.add("type", text), module_).or_throw();
}

std::string TypecheckFixture::scheme(const std::string& name) {
  auto scheme = checker_->scheme(name);
  return scheme ? to_string(*scheme) : text_of(scheme.errors());
}

std::string TypecheckFixture::scheme_of(const std::string& text) {
  define(text);
  return scheme(module_.definitions().back()->name);
}

std::string TypecheckFixture::type_of(const std::string& text) {
  auto scheme = checker_->type_of(expression(text));
  return scheme ? to_string(*scheme) : text_of(scheme.errors());
}

std::string TypecheckFixture::check(const std::string& text) {
  auto expr = checker_->check(expression(text));
  if (!expr) return text_of(expr.errors());
  relay::typecheck::verify(*expr);
  return to_string((*expr)->type);
}

std::string TypecheckFixture::typed(const std::string& text) {
  auto expr = checker_->check(expression(text));
  if (!expr) return text_of(expr.errors());
  relay::typecheck::verify(*expr);
  return print(*expr);
}

std::string TypecheckFixture::instance(const std::string& name, const std::string& text) {
  auto expr = checker_->specialise(name, type(text));
  if (!expr) return text_of(expr.errors());
  relay::typecheck::verify(*expr);
  return print_definition(name, *expr);
}

std::string TypecheckFixture::key(const std::string& name, const std::string& text) {
  auto key = checker_->specialisation_key(name, type(text));
  return key ? *key : text_of(key.errors());
}
