#include <fmt/format.h>

#include "parser/resolver.h"

// `let`, and the patterns on its left side.
namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::PatternKind;
using lang::PatternRef;

namespace {

bool is_pattern(const Node& target) {
  return target.kind == Syntax::TuplePattern || target.kind == Syntax::ConstructorPattern ||
         target.kind == Syntax::RecordPattern;
}

// The variables of a pattern, from left to right.
void collect(const PatternRef& pattern, std::vector<lang::VariableRef>& variables) {
  if (pattern->kind == PatternKind::Variable) variables.push_back(pattern->variable);
  for (const PatternRef& field : pattern->fields) collect(field, variables);
}

// The pattern with one variable, `fresh` in place of `wanted`, and wildcards for the others.
PatternRef only(const PatternRef& pattern, const lang::VariableRef& wanted,
                const lang::VariableRef& fresh) {
  if (pattern->kind == PatternKind::Variable && pattern->variable == wanted)
    return lang::variable_pattern(fresh, pattern->span);
  if (pattern->kind == PatternKind::Variable || pattern->kind == PatternKind::Wildcard)
    return lang::wildcard_pattern(pattern->span);
  std::vector<PatternRef> fields;
  for (const PatternRef& field : pattern->fields) fields.push_back(only(field, wanted, fresh));
  return pattern->kind == PatternKind::Tuple
             ? lang::tuple_pattern(std::move(fields), pattern->span)
             : lang::constructor_pattern(pattern->constructor, std::move(fields), pattern->span);
}

}  // namespace

void Resolver::let_statement(const Node& node, std::vector<Step>& steps) {
  const Node& target = *node.child(0);
  const Node& value = *node.last();
  warn_of_division(value);
  if (is_pattern(target)) {
    Expr whole = expr(value);
    BoundNames bound;
    const PatternRef pattern = let_pattern(target, bound);
    lang::VariableRef variable =
        lang::make_variable("", type_of_pattern(pattern, annotation_of(node)), span(target));
    steps.push_back({variable, std::move(whole), span(node)});
    take_apart(pattern, lang::make_var(variable, span(target)), steps);
    for (auto& [name, each] : bound) bind_local(name, each);
    return;
  }
  lang::VariableRef variable =
      lang::make_variable(std::string(name_text(target)), annotation_of(node), span(target));
  const bool recursive = inner(value).kind == Syntax::Function;
  if (recursive) bind_local(name_text(target), variable);
  Expr bound = expr(value);
  if (!recursive) bind_local(name_text(target), variable);
  steps.push_back({std::move(variable), std::move(bound), span(node)});
}

// One binding for each variable, so that a chain of lets stays a chain: tuples by projection, data
// types by a match that keeps one variable.
void Resolver::take_apart(const PatternRef& pattern, Expr value, std::vector<Step>& steps) {
  switch (pattern->kind) {
    case PatternKind::Wildcard:
      return;
    case PatternKind::Variable:
      steps.push_back({pattern->variable, std::move(value), pattern->span});
      return;
    case PatternKind::Tuple:
      for (std::size_t i = 0; i < pattern->fields.size(); ++i) {
        const PatternRef& field = pattern->fields[i];
        take_apart(field, lang::make_projection(value, static_cast<std::uint32_t>(i), field->span),
                   steps);
      }
      return;
    case PatternKind::Constructor: {
      std::vector<lang::VariableRef> variables;
      collect(pattern, variables);
      for (const lang::VariableRef& variable : variables) {
        lang::VariableRef fresh = lang::make_variable(variable->name, nullptr, variable->span);
        lang::Clause clause{only(pattern, variable, fresh), lang::make_var(fresh, variable->span)};
        steps.push_back({variable,
                         lang::make_match(value, {std::move(clause)}, true, pattern->span),
                         pattern->span});
      }
      return;
    }
  }
}

PatternRef Resolver::let_pattern(const Node& node, BoundNames& bound) {
  PatternRef result = pattern(node, bound);
  std::vector<PatternRef> open{result};
  while (!open.empty()) {
    const PatternRef each = open.back();
    open.pop_back();
    open.insert(open.end(), each->fields.begin(), each->fields.end());
    if (each->kind != PatternKind::Constructor) continue;
    for (const lang::Constructor& other : each->constructor->owner->constructors) {
      if (&other == each->constructor) continue;
      Diagnostic diagnostic(DiagnosticKind::NonExhaustiveMatch,
                            fmt::format("a `let` must fit every value, but this pattern leaves "
                                        "out `{}`",
                                        other.name),
                            each->span);
      diagnostic.note("help: `match` tells the constructors apart");
      report(std::move(diagnostic));
      return lang::wildcard_pattern(span(node));
    }
  }
  return result;
}

lang::Type Resolver::type_of_pattern(const PatternRef& pattern, Type annotation) {
  if (annotation && annotation->kind == lang::TypeKind::Incomplete) annotation = nullptr;
  const auto refuse = [&](std::string_view what) {
    report(Kind::BadPattern,
           fmt::format("{}, but the annotation is `{}`", what, lang::to_string(annotation)),
           pattern->span);
    return annotation;
  };
  switch (pattern->kind) {
    case PatternKind::Variable:
      if (!annotation && pattern->variable->type) return pattern->variable->type;
      [[fallthrough]];
    case PatternKind::Wildcard:
      return annotation ? annotation : lang::incomplete_type();
    case PatternKind::Tuple: {
      const auto* tuple = lang::as<lang::TupleType>(annotation);
      const std::size_t count = pattern->fields.size();
      if (annotation && !(tuple && tuple->fields.size() == count))
        return refuse(fmt::format("this pattern is for a tuple of {}", count));
      std::vector<Type> fields;
      for (std::size_t i = 0; i < count; ++i)
        fields.push_back(type_of_pattern(pattern->fields[i], tuple ? tuple->fields[i] : nullptr));
      return lang::tuple_type(std::move(fields));
    }
    case PatternKind::Constructor: {
      const lang::TypeDef* def = pattern->constructor->owner;
      const auto* adt = lang::as<lang::AdtType>(annotation);
      if (annotation && !(adt && adt->def == def))
        return refuse(fmt::format("this pattern is for a `{}`", def->name));
      if (annotation) return annotation;
      return lang::adt_type(def, std::vector<Type>(def->params.size(), lang::incomplete_type()));
    }
  }
  return nullptr;
}

// --- At the top level ---

// Enters what a top-level let binds; constructors are known by now.
void Resolver::declare_top_let(const Node& target) {
  std::vector<const Node*> open{&target};
  while (!open.empty()) {
    const Node& node = *open.back();
    open.pop_back();
    switch (node.kind) {
      case Syntax::TuplePattern:
        open.insert(open.end(), node.children().begin(), node.children().end());
        break;
      case Syntax::ConstructorPattern:
      case Syntax::RecordPattern:
        for (const Node* field : node.children().subspan(1)) open.push_back(field);
        break;
      case Syntax::FieldPattern:
        open.push_back(node.child(1));
        break;
      case Syntax::TypedPattern:
        open.push_back(node.child(0));
        break;
      case Syntax::Hole:
      case Syntax::Number:
      case Syntax::Prefix:
        break;
      default: {
        const std::string_view text = name_text(node);
        if (text == "_" && &node != &target) break;
        if (text == "True" || text == "False") break;
        if (&node == &target || !symbols_.intern(text).constructor()) declare_global(node, true);
      }
    }
  }
}

void Resolver::top_let(const Node& node, Item& item) {
  const Node& target = *node.child(0);
  item.kind = ItemKind::Let;
  item.annotation = annotation_of(node);
  BoundNames bound;
  if (is_pattern(target)) {
    item.prefix = prefix_;
    item.pattern = let_pattern(target, bound);
    item.annotation = type_of_pattern(item.pattern, item.annotation);
  } else {
    item.name = prefix_ + std::string(name_text(target));
  }
  // What is bound is not in sight of its own value, in which the name means what it did before.
  // Functions may call themselves.
  Symbol* own = is_pattern(target) ? nullptr : &symbols_.intern(name_text(target));
  const bool is_first = own && own->own_is_let && !let_before_.contains(own->text);
  const bool hides = is_first && inner(*node.last()).kind != Syntax::Function;
  if (is_first && !hides) let_before_.insert(own->text);
  const Span* declared = hides && !means_more(*own) ? std::exchange(own->own_global, nullptr)
                         : own                      ? own->own_global
                                                    : nullptr;
  item.expr = expr(*node.last());
  warn_of_division(*node.last());
  if (own) own->own_global = declared;
  if (own && own->own_is_let) let_before_.insert(own->text);
  for (const auto& [name, variable] : bound) let_before_.insert(name);
}

}  // namespace relay::parser
