#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "lang/module.h"
#include "opt/rule_instance.h"

namespace relay::opt {

struct RewriteOptions {
  int most_rounds = 50;
  // Is told the name of each rule that is applied.
  std::function<void(std::string_view)> watch = {};
};

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
