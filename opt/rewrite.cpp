#include "opt/rewrite.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/op_traits.h"
#include "lang/visit.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

// Is it quick, so that computing it twice is no loss: elementwise, or a move?
bool is_light(const Expr& step) {
  const auto* call = as<lang::Call>(step);
  return !call || lang::has_trait(*call, lang::PatternForm::Elementwise) ||
         lang::has_trait(*call, lang::PatternForm::Injective);
}

// Would the replacement compute a heavy step that stays there for others?
bool repeats_work(const Expr& made, const ExprMatch& match, const MentionCounts& mentions) {
  if (mentions.is_closed(match)) return false;
  std::set<const lang::OpDef*> stays;
  for (const ExprMatch::Step& step : match.steps) {
    if (!(step.value == match.steps.back().value) && !is_light(step.value))
      stays.insert(operator_of(step.value));
  }
  bool repeats = false;
  lang::visit_post_order(
      made, [&](const Expr& node) { repeats = repeats || stays.contains(operator_of(node)); });
  return !stays.empty() && repeats;
}

// One round.
Expr rewritten_once(const Expr& fn, const std::vector<PatternRule>& rules, const RuleHost& host,
                    std::set<std::string>& applied) {
  MentionCounts mentions(fn);
  return replace_steps(fn, [&](const Expr& step, const Definitions& definitions) -> Expr {
    // A variable stands for a step that is there once: mentions of it are no steps of their own.
    if (!step->type || step->kind == lang::ExprKind::Var) return nullptr;
    for (const PatternRule& rule : rules) {
      if (!rule.written.replacement) continue;
      const auto found = match_rule(rule, step, definitions, host);
      if (!found) continue;
      Expr made = replacement_for(rule, *found, step->type, host);
      if (!made || repeats_work(made, *found, mentions)) continue;
      applied.insert(rule.written.name);
      mentions.add(made);
      return made;
    }
    return nullptr;
  });
}

}  // namespace

std::vector<PatternRule> read_rules(const PassHost& host, const std::string& path) {
  const RuleScope scope =
      path.starts_with(kLibraryRules) ? RuleScope::Operators : RuleScope::Program;
  return pattern_rules(host.parse_rules(path, host.read_file(path), scope));
}

Expr rewritten(const Expr& fn, const std::vector<PatternRule>& rules, const RuleHost& host,
               lang::Program* program, const RewriteOptions& options) {
  Expr at = fn;
  std::set<std::string> applied;
  for (int round = 0; round < options.most_rounds; ++round) {
    applied.clear();
    const Expr next = rewritten_once(at, rules, host, applied);
    if (next == at) return at;
    at = to_anf(eliminate_dead_code(to_anf(next, program), program), program);
  }
  if (applied.empty()) return at;
  applied.clear();
  if (rewritten_once(at, rules, host, applied) == at) return at;
  throw lang::Failure(
      lang::Diagnostic(lang::DiagnosticKind::BadRule,
                       fmt::format("after {} rounds, rules still apply: `{}`", options.most_rounds,
                                   fmt::join(applied, "`, `")),
                       fn->span)
          .note("help: each rule should make the code smaller, or leave nothing that another rule "
                "turns back"));
}

}  // namespace relay::opt
