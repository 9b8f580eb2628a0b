// Match: types of patterns, and whether the clauses cover everything.

#include <fmt/format.h>

#include "lang/match_check.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

void Inference::infer_pattern(const PatternRef& pattern, const Type& scrutinee,
                              Span scrutinee_span) {
  auto must_be = [&](const Type& expected, std::string subject) {
    Mismatch mismatch{expected, scrutinee, pattern->span, std::move(subject)};
    mismatch.labels.push_back({scrutinee_span, describe_type(scrutinee, solver_)});
    mismatch.other = scrutinee_span;
    expect(mismatch);
  };
  switch (pattern->kind) {
    case PatternKind::Wildcard:
      return;
    case PatternKind::Variable: {
      const VariableRef& variable = pattern->variable;
      if (variable->type) must_be(open(variable->type, variable->span), "the type of this pattern");
      introduce(variable, scrutinee);
      return;
    }
    case PatternKind::Tuple: {
      std::vector<Type> fields;
      for (std::size_t i = 0; i < pattern->fields.size(); ++i)
        fields.push_back(solver_.fresh_type());
      must_be(tuple_type(fields), "this pattern");
      for (std::size_t i = 0; i < fields.size(); ++i) {
        infer_pattern(pattern->fields[i], solver_.head(fields[i]), scrutinee_span);
      }
      return;
    }
    case PatternKind::Constructor:
      break;
  }
  const Constructor& constructor = *pattern->constructor;
  if (pattern->fields.size() != constructor.fields.size()) {
    fail(DiagnosticKind::BadPattern,
         fmt::format("`{}` has {}, the pattern has {}", constructor.name,
                     count_of(constructor.fields.size(), "field"), pattern->fields.size()),
         pattern->span);
  }
  Type type = constructor_type(constructor);
  const auto* function = as<FunctionType>(type);
  must_be(function ? function->result : type, "this pattern");
  for (std::size_t i = 0; i < pattern->fields.size(); ++i) {
    infer_pattern(pattern->fields[i], solver_.head(function->params[i]), scrutinee_span);
  }
}

Type Inference::infer_match(const Expr& expr) {
  const Match& match = cast<Match>(expr);
  Type scrutinee = infer(match.scrutinee);
  Type result;
  Span first_span;
  for (const Clause& clause : match.clauses) {
    infer_pattern(clause.pattern, solver_.head(scrutinee), match.scrutinee->span);
    Type body = infer(clause.body);
    Span span = tail_of(clause.body)->span;
    if (!result) {
      result = enter(body, nullptr, expr->span, 0);
      first_span = span;
      continue;
    }
    Mismatch mismatch{body, result, span, "this clause of the `match`"};
    mismatch.labels.push_back({first_span, describe_type(result, solver_)});
    mismatch.other = first_span;
    expect(mismatch);
    Type known = solver_.resolve(body);
    if (mentions_any_dim(known)) result = merge_dims(solver_.resolve(result), known, true);
  }
  MatchReport coverage = check_match(match.clauses);
  if (coverage.is_too_large) report(Failure(too_many_cases(expr->span)));
  if (match.is_complete && !coverage.missing.empty()) {
    Diagnostic diagnostic = non_exhaustive(coverage, expr->span);
    diagnostic.label(match.scrutinee->span, describe_type(scrutinee, solver_));
    report(Failure(std::move(diagnostic)));
  }
  for (std::size_t i : coverage.unreachable) warnings_.push_back(unreachable(match.clauses[i]));
  return result ? result : solver_.fresh_type();
}

}  // namespace relay::typecheck
