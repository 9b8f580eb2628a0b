#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "lang/match_check.h"
#include "parser/comments.h"
#include "parser/match_tree.h"
#include "parser/resolver.h"

// `match`, and patterns.
namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::VariableRef;

lang::Expr Resolver::match(const Node& node) {
  const bool is_partial = node.child(0)->kind == Syntax::Mark;
  const std::size_t first = is_partial ? 1 : 0;
  Expr scrutinee = expr(*node.child(first));
  PatternLiterals literals;
  std::vector<lang::Clause> clauses;
  for (const Node* arm : node.children().subspan(first + 1)) {
    const Scope scope(*this);
    BoundNames bound;
    PatternLiterals* const outer = std::exchange(literals_, &literals);
    lang::PatternRef left = pattern(*arm->child(0), bound);
    literals_ = outer;
    for (auto& [name, variable] : bound) bind_local(name, variable);
    clauses.push_back({std::move(left), expr(*arm->child(1))});
  }
  if (!literals.is_used())
    return lang::make_match(std::move(scrutinee), std::move(clauses), !is_partial, span(node));
  if (std::optional<Diagnostic> wrong = disagreement(clauses, scrutinee, literals)) {
    report(std::move(*wrong));
    return nothing(node);
  }
  const lang::MatchReport coverage = lang::check_match(clauses);
  if (coverage.is_too_large) {
    report(lang::too_many_cases(span(node)));
    return nothing(node);
  }
  for (const std::size_t i : coverage.unreachable)
    warnings_.push_back(lang::unreachable(clauses[i]));
  if (!is_partial && !coverage.missing.empty()) {
    report(lang::non_exhaustive(coverage, span(node)));
    return nothing(node);
  }
  return spell_match(std::move(scrutinee), clauses, coverage.missing.empty(), literals, span(node));
}

// A number, `True` or `False`.
lang::PatternRef Resolver::literal_pattern(const Node& node) {
  const Span where = span(node);
  if (!literals_) {
    Diagnostic diagnostic(DiagnosticKind::NonExhaustiveMatch,
                          fmt::format("a `let` must fit every value, but this pattern is for `{}` "
                                      "only",
                                      tree_.text(node)),
                          where);
    diagnostic.note("help: `match` tells values apart");
    report(std::move(diagnostic));
    return lang::wildcard_pattern(where);
  }
  if (node.kind == Syntax::Name)
    return lang::constructor_pattern(literals_->truth(tree_.text(node) == "True"), {}, where);
  try {
    const bool negative = node.kind == Syntax::Prefix;
    const NumberValue value =
        read_number(tree_.text(*(negative ? node.last() : &node)), negative, strict_, where);
    return lang::constructor_pattern(literals_->number(value, std::string(tree_.text(node))), {},
                                     where);
  } catch (lang::Failure& failure) {
    report(std::move(failure.diagnostics.front()));
    return lang::wildcard_pattern(where);
  }
}

lang::PatternRef Resolver::variable_pattern(const Node& name, Type annotation, Span where,
                                            BoundNames& bound) {
  const std::string_view text = name_text(name);
  if (text == "_") return lang::wildcard_pattern(where);
  VariableRef variable = lang::make_variable(std::string(text), std::move(annotation), span(name));
  for (const auto& [earlier, first] : bound) {
    if (earlier != text) continue;
    report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                      fmt::format("`{}` is bound twice in one pattern", text), span(name))
               .label(first->span, "first bound here"));
  }
  bound.emplace_back(text, variable);
  return lang::variable_pattern(std::move(variable), where);
}

lang::PatternRef Resolver::constructor_pattern(const Node& node, const Node& name,
                                               std::size_t first_field, BoundNames& bound) {
  Symbol& symbol = symbols_.intern(tree_.text(name));
  const lang::Constructor* constructor = symbol.constructor();
  if (constructor) note_constructor(*constructor, span(name));
  if (constructor && (node.kind == Syntax::RecordPattern || node.find(Syntax::FieldPattern)))
    return record_pattern(node, *constructor, bound);
  std::vector<lang::PatternRef> fields;
  for (const Node* field :
       node.children().subspan(std::min<std::size_t>(first_field, node.count))) {
    if (field->kind == Syntax::FieldPattern) field = field->child(1);
    fields.push_back(pattern(*field, bound));
  }
  if (symbol.broken) {
    item_is_broken_ = true;
    return lang::wildcard_pattern(span(node));
  }
  if (!constructor) {
    Diagnostic diagnostic(DiagnosticKind::UnknownConstructor,
                          fmt::format("unknown constructor `{}`", symbol.text), span(name));
    std::vector<std::string> candidates;
    for (const Symbol& other : symbols_.all()) {
      if (other.constructor()) candidates.emplace_back(other.text);
    }
    for (const lang::TypeDef* type : scope_.types()) {
      for (const lang::Constructor& other : type->constructors) candidates.push_back(other.name);
    }
    const std::vector<std::string> closest = lang::closest_names(symbol.text, candidates);
    if (!closest.empty()) {
      diagnostic.note(fmt::format("help: did you mean `{}`?", closest.front()));
    } else if (!strict_ && std::islower(static_cast<unsigned char>(symbol.text.front()))) {
      diagnostic.note(
          fmt::format("help: a function is defined by `def`: `def {}(…)`", symbol.text));
    }
    if (strict_ && fields.empty())
      diagnostic.note(fmt::format("help: a variable is written `%{}`", symbol.text));
    report(std::move(diagnostic));
    return lang::wildcard_pattern(span(node));
  }
  if (fields.size() != constructor->fields.size()) {
    report(Diagnostic(DiagnosticKind::WrongArity,
                      fmt::format("constructor `{}` has {} field{}, the pattern has {}",
                                  symbol.text, constructor->fields.size(),
                                  constructor->fields.size() == 1 ? "" : "s", fields.size()),
                      span(node))
               .label(constructor->span, "defined here"));
    return lang::wildcard_pattern(span(node));
  }
  return lang::constructor_pattern(constructor, std::move(fields), span(node));
}

bool Resolver::is_parenthesised(const Node& tuple) const {
  if (tuple.count != 1) return false;
  const char* text = tree_.source->text().data();
  const Gap rest = skip_gap(text + tuple.child(0)->end, text + tuple.end, Breaks::Skip);
  return *rest.end != ',';
}

lang::PatternRef Resolver::pattern(const Node& node, BoundNames& bound) {
  switch (node.kind) {
    case Syntax::Hole:
      return lang::wildcard_pattern(span(node));
    case Syntax::Local:
      return variable_pattern(node, nullptr, span(node), bound);
    case Syntax::TypedPattern:
      return variable_pattern(*node.child(0), annotation_of(node), span(node), bound);
    case Syntax::ConstructorPattern:
    case Syntax::RecordPattern:
      return constructor_pattern(node, *node.child(0), 1, bound);
    case Syntax::TuplePattern: {
      if (!strict_ && is_parenthesised(node)) return pattern(*node.child(0), bound);
      std::vector<lang::PatternRef> fields;
      for (const Node* field : node.children()) fields.push_back(pattern(*field, bound));
      return lang::tuple_pattern(std::move(fields), span(node));
    }
    case Syntax::Number:
    case Syntax::Prefix:
      return literal_pattern(node);
    default: {  // a bare name: a constructor if there is one, else, in the light notation, a
                // variable
      const std::string_view text = tree_.text(node);
      if (!strict_ && (text == "True" || text == "False")) return literal_pattern(node);
      const bool is_upper = text[0] >= 'A' && text[0] <= 'Z';
      if (strict_ || is_upper || symbols_.intern(text).constructor())
        return constructor_pattern(node, node, 0, bound);
      return variable_pattern(node, nullptr, span(node), bound);
    }
  }
}

}  // namespace relay::parser
