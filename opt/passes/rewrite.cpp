#include "opt/rewrite.h"

#include "opt/pass.h"
#include "opt/pass_program.h"
#include "opt/rule_check.h"

namespace relay::opt {

namespace {

void run_rewrite(PassProgram& program, const lang::Attrs& options) {
  const PassHost& host = program.host();
  const std::string& path = options.get_string("rules");
  const std::vector<PatternRule> rules = read_rules(host, path);
  const RuleHost rule_host{host.infer, host.evaluate};
  // The tests have tried what is part of the program.
  if (options.get_bool("check") && !path.starts_with(kLibraryRules)) check_rules(rules, rule_host);
  const RewriteOptions how{.most_rounds = static_cast<int>(options.get_int("rounds"))};
  program.each(
      [&](const lang::Expr& fn) { return rewritten(fn, rules, rule_host, &program, how); });
}

}  // namespace

Pass rewrite_pass() {
  return {
      .name = "Rewrite",
      .doc = "rewrites by the rules of a file, each of which is tried on random values first",
      .options = {{"rules", lang::AttrKind::String, lang::AttrValue(kAlgebraRules),
                   "a file of them"},
                  {"rounds", lang::AttrKind::Int, lang::AttrValue(50), "over all steps, at most"},
                  {"check", lang::AttrKind::Bool, lang::AttrValue(true),
                   "try the rules on random values"}},
      .keeps = Keeps::Rounding,
      .example = "def f(x: Tensor[(3), float32]) { negative(negative(x)) + x }",
      .run = run_rewrite};
}

}  // namespace relay::opt
