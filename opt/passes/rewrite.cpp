#include "opt/rewrite.h"

#include "opt/pass.h"
#include "opt/pass_program.h"
#include "opt/rule_check.h"

namespace relay::opt {

namespace {

constexpr const char* kExample = "def f(x: Tensor[(3), float32]) { x + x }";

void run_rewrite(PassProgram& program, const lang::Attrs& options) {
  const PassHost& host = program.host();
  const std::string& path = options.get_string("rules");
  if (path.empty()) return;
  const std::vector<PatternRule> rules =
      pattern_rules(host.parse_rules(path, host.read_file(path)));
  const RuleHost rule_host{host.infer, host.evaluate};
  if (options.get_bool("check")) check_rules(rules, rule_host);
  program.each([&](const lang::Expr& fn) {
    return rewritten(fn, rules, rule_host, &program,
                     {.most_rounds = static_cast<int>(options.get_int("rounds"))});
  });
}

}  // namespace

Pass rewrite_pass() {
  return {
      .name = "Rewrite",
      .doc = "rewrites by the rules of a file, each of which is tried on random values first",
      .options = {{"rules", lang::AttrKind::String, lang::AttrValue(""), "a file of rules"},
                  {"rounds", lang::AttrKind::Int, lang::AttrValue(50), "over all steps, at most"},
                  {"check", lang::AttrKind::Bool, lang::AttrValue(true),
                   "try the rules on random values"}},
      .keeps = Keeps::Rounding,
      .example = kExample,
      .run = run_rewrite};
}

}  // namespace relay::opt
