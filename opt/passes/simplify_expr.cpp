#include "opt/pass_program.h"
#include "opt/rewrite.h"

namespace relay::opt {

using lang::Expr;

namespace {

// The table of the algebra, without the rules that hold of real numbers only.
std::vector<PatternRule> algebra(const PassHost& host, bool is_fast) {
  std::vector<PatternRule> rules = read_rules(host, kAlgebraRules);
  if (!is_fast) {
    std::erase_if(rules, [](const PatternRule& rule) {
      return rule.written.kind == lang::RuleKind::Approximate;
    });
  }
  return rules;
}

// Also what the notation of rules has no words for: index notation, extents, sums over stretched
// axes, steps that differentiation has made and that may be regrouped.
Expr simplified_further(const Expr& fn, const SimplifyOptions& how, lang::Program& program) {
  return eliminate_dead_code(to_anf(simplify(fn, how), &program), &program);
}

}  // namespace

Pass simplify_expr_pass() {
  Pass pass;
  pass.name = "SimplifyExpr";
  pass.doc = "algebra that a person would do, and that keeps every bit";
  pass.options = {{"fast_math", lang::AttrKind::Bool, lang::AttrValue(false),
                   "also what holds of real numbers only, as `0 - x` to `-x` or sums regrouped"}};
  pass.is_idempotent = false;
  pass.example =
      R"(def f(x: Tensor[(4), float32]) { negative(negative(x)) * ones([4]) + transpose(transpose(x)) })";
  pass.pipeline_place = 6;
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const PassHost& host = program.host();
    const bool is_fast = options.get_bool("fast_math");
    const SimplifyOptions how{host.evaluate_primitive, is_fast};
    const std::vector<PatternRule> rules = algebra(host, is_fast);
    program.each([&](const Expr& fn) {
      const Expr made = rewritten(fn, rules, {host.infer, host.evaluate}, &program);
      return simplified_further(made, how, program);
    });
  };
  return pass;
}

}  // namespace relay::opt
