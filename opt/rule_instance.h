#pragma once

#include <functional>
#include <optional>

#include "lang/diagnostic.h"
#include "opt/pattern.h"

// Private to what applies rules.
namespace relay::opt {

// What rules need of those who apply them: PassHost::infer and PassHost::evaluate.
struct RuleHost {
  std::function<lang::Expr(const lang::Expr& fn)> infer;
  std::function<lang::Expr(const lang::Expr& closed)> evaluate;
};

// The rule's pattern at an expression, if also its condition holds there. Throws Failure where the
// condition is ill typed or speaks of values that are not known before the program runs.
std::optional<ExprMatch> match_rule(const PatternRule& rule, const lang::Expr& expr,
                                    const Definitions& definitions, const RuleHost& host);

// The replacement for a match: typed, of the type `type`; null where it has another one, or is ill
// typed for the types at hand, for which `why` gets the errors. What the match has bound stands in
// it as the code mentions it.
lang::Expr replacement_for(const PatternRule& rule, const ExprMatch& match, const lang::Type& type,
                           const RuleHost& host, std::vector<lang::Diagnostic>* why = nullptr);

}  // namespace relay::opt
