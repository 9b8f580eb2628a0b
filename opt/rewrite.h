#pragma once

#include <string>
#include <vector>

#include "lang/module.h"
#include "opt/rule_instance.h"

namespace relay::opt {

struct RewriteOptions {
  int most_rounds = 50;
};

struct PassHost;  // opt/pass_program.h

// The table of the algebra.
inline constexpr const char* kAlgebraRules = "std:simplify_expr.relay";
// The rules of a file, or of a table that is part of the program. Throws Failure.
std::vector<PatternRule> read_rules(const PassHost& host, const std::string& path);

// Rewrites a typed function by rules until none applies: the first that matches a step is taken,
// and each round goes over all steps once, from the first to the last. What nobody uses then is
// dropped; the result is in A-normal form. A rule does not apply where its replacement has another
// type than what it replaces, or would repeat work: where something else uses a step of the match
// that the replacement computes again. Throws Failure after the last round if some rule still
// applies, with the names of those that did.
lang::Expr rewritten(const lang::Expr& fn, const std::vector<PatternRule>& rules,
                     const RuleHost& host, lang::Program* program,
                     const RewriteOptions& options = {});

}  // namespace relay::opt
