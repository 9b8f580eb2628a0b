#include "repl/left_behind.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "lang/op.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "repl/environment.h"
#include "repl/let_function.h"
#include "repl/users.h"

namespace relay::repl {

using lang::Definition;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Origin;
using lang::Span;

namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 4;
  const std::size_t shown = names.size() > kMost + 1 ? kMost : names.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// Empty: nothing is wrong with it.
std::vector<Diagnostic> errors_in(const Definition& definition, const lang::Module& module,
                                  typecheck::Checker& checker) {
  const std::string owner = owner_of_gradient(module, definition.name);
  const auto scheme =
      owner.empty() ? checker.scheme(definition.name) : checker.check_gradient(owner);
  if (scheme) return {};
  if (!scheme.errors().empty() && lang::is_stop(scheme.errors().front().kind))
    throw lang::Failure(scheme.errors());
  return scheme.errors();
}

// What uses something that is wrong fails with the same errors, and mends itself with it.
bool is_known(const std::vector<lang::Label>& causes, const Diagnostic& error) {
  return std::any_of(causes.begin(), causes.end(), [&](const lang::Label& other) {
    return other.span.source == error.span.source && other.span.begin == error.span.begin;
  });
}

}  // namespace

Span name_span(const Definition& definition) {
  const Span whole = definition.span;
  const Span behind = definition.function ? definition.function->span : Span();
  if (!behind || behind.source != whole.source || behind.begin < whole.begin) return {};
  const std::string_view head = whole.text().substr(0, behind.begin - whole.begin);
  const std::size_t at = head.rfind(definition.name);
  if (at == std::string_view::npos) return {};
  const std::uint32_t begin = whole.begin + static_cast<std::uint32_t>(at);
  return {whole.source, begin, begin + static_cast<std::uint32_t>(definition.name.size())};
}

std::optional<Diagnostic> hidden_constructors(const lang::TypeDef& type,
                                              const lang::Module& module) {
  const lang::TypeDef* hidden = module.find_type(type.name);
  if (!hidden || type.origin != Origin::Own || hidden->origin == Origin::Own) return std::nullopt;
  std::vector<std::string> names;
  for (const lang::Constructor& each : hidden->constructors) {
    const bool is_taken =
        std::any_of(type.constructors.begin(), type.constructors.end(),
                    [&](const lang::Constructor& own) { return own.name == each.name; });
    const lang::Constructor* meant = module.find_constructor(each.name);
    if (!is_taken && meant && meant->owner == hidden) names.push_back(each.name);
  }
  if (names.empty()) return std::nullopt;
  Diagnostic warning(
      DiagnosticKind::HiddenConstructor,
      fmt::format("`{}` takes the name of {} type, whose {} {} nothing any more", type.name,
                  hidden->origin == Origin::Prelude ? "the prelude's" : "an imported",
                  listed(names), names.size() == 1 ? "means" : "mean"),
      type.span);
  warning.note("help: under another name both types can be used");
  return warning;
}

std::optional<Diagnostic> hidden_builtin(const std::string& name, Span span,
                                         const lang::Module& module) {
  const Definition* before = module.find(name);
  if (before && before->origin == Origin::Own) return std::nullopt;
  const bool is_prelude = before && before->origin == Origin::Prelude;
  const lang::OpDef* op = lang::OpRegistry::instance().find(name);
  if (!is_prelude && (!op || op->is_step)) return std::nullopt;
  Diagnostic warning(DiagnosticKind::HiddenBuiltin,
                     fmt::format("`{}` means this from here on, and no more the {} of that name",
                                 name, is_prelude ? "function of the prelude" : "operator"),
                     span);
  warning.note(fmt::format("help: `:forget {}` brings it back", name));
  return warning;
}

std::vector<Diagnostic> stale_definitions(const std::map<std::string, Span>& changed,
                                          const lang::Module& module, typecheck::Checker& checker) {
  const Users users(module);
  std::set<std::string> told;
  std::vector<Diagnostic> warnings;
  for (const auto& [name, span] : changed) {
    std::vector<std::string> stale;
    std::vector<lang::Label> labels = {{span, "the new one"}};
    for (const Definition* each : users.of(name)) {
      lang::poll();
      if (changed.contains(each->name) || told.contains(each->name)) continue;
      const std::vector<Diagnostic> errors = errors_in(*each, module, checker);
      if (errors.empty()) continue;
      told.insert(each->name);
      if (is_known(labels, errors.front())) continue;
      stale.push_back(each->name);
      if (errors.front().span) labels.push_back({errors.front().span, errors.front().message});
    }
    if (stale.empty()) continue;
    Diagnostic warning(DiagnosticKind::StaleDefinition,
                       fmt::format("`{}` has changed, and {} {} not fit it any more", name,
                                   listed(stale), stale.size() == 1 ? "does" : "do"),
                       span);
    warning.labels = std::move(labels);
    warning.note(fmt::format("help: define {} anew", stale.size() == 1 ? "it" : "them"));
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

namespace {

bool has_type(const lang::Type& type, const lang::TypeDef* def) {
  const auto any = [&](const std::vector<lang::Type>& types) {
    return std::any_of(types.begin(), types.end(),
                       [&](const lang::Type& each) { return has_type(each, def); });
  };
  if (const auto* adt = lang::as<lang::AdtType>(type)) return adt->def == def || any(adt->args);
  if (const auto* tuple = lang::as<lang::TupleType>(type)) return any(tuple->fields);
  if (const auto* function = lang::as<lang::FunctionType>(type))
    return any(function->params) || has_type(function->result, def);
  const auto* reference = lang::as<lang::ReferenceType>(type);
  return reference && has_type(reference->content, def);
}

// In its type, or made inside.
bool has_type(const Definition& definition, const lang::TypeDef* def, typecheck::Checker& checker) {
  if (!definition.function) return definition.value_type && has_type(definition.value_type, def);
  const auto scheme = checker.scheme(definition.name);
  if (scheme && has_type(scheme->type, def)) return true;
  bool makes_one = false;
  lang::visit_post_order(definition.function, [&](const lang::Expr& node) {
    const auto* made = lang::as<lang::ConstructorRef>(node);
    makes_one = makes_one || (made && made->constructor->owner == def);
  });
  return makes_one;
}

}  // namespace

std::vector<Diagnostic> left_with_older(const std::vector<ChangedType>& changed,
                                        const lang::Module& module, typecheck::Checker& checker) {
  std::vector<Diagnostic> warnings;
  for (const ChangedType& type : changed) {
    std::vector<std::string> users;
    for (const Definition* each : module.definitions()) {
      lang::poll();
      if (is_written(*each, module) && has_type(*each, type.old, checker))
        users.push_back(each->name);
    }
    if (users.empty()) continue;
    const bool is_one = users.size() == 1;
    Diagnostic warning(DiagnosticKind::StaleDefinition,
                       fmt::format("`{}` has changed, and {} {} the older one", type.old->name,
                                   listed(users), is_one ? "keeps" : "keep"),
                       type.span);
    warning.note(fmt::format("help: define {} anew", is_one ? "it" : "them"));
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace relay::repl
