#include "opt/merge_composites.h"

#include <fmt/format.h>

#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/definitions.h"
#include "opt/external.h"
#include "opt/steps_literal.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::FunctionFact;

namespace {

// What the step is with parameters in place of the values that they stand for.
Expr with_parameters(const Expr& step, const std::vector<lang::VariableRef>& used,
                     const StepParameters& params) {
  lang::Substitution renamed;
  for (const lang::VariableRef& variable : used) {
    if (Expr param = params.find(lang::make_var(variable)))
      renamed[variable.get()] = std::move(param);
  }
  Expr made = lang::substitute(step, renamed);
  const auto* call = as<lang::Call>(made);
  if (!call) return made;
  // Constants that stand for a parameter.
  std::vector<Expr> args = call->args;
  for (Expr& arg : args) {
    if (arg->kind != ExprKind::Constant && arg->kind != ExprKind::GlobalVar) continue;
    if (Expr param = params.find(arg)) arg = std::move(param);
  }
  return lang::make_call(call->callee, std::move(args), call->attrs, made->span, made->type,
                         call->algebra);
}

class CompositeMerger final : public BlockRewriter {
 public:
  CompositeMerger(const std::vector<const CompositeRule*>& rules, lang::Program* program)
      : rules_(rules), program_(program) {}

 protected:
  bool rewrite(lang::Block& block) override {
    Effects effects(program_);
    BlockUses uses(block, effects);
    Definitions definitions;
    for (const lang::Binding& binding : block.bindings)
      definitions.add(binding.variable, binding.value);
    bool is_merged = false;
    for (const CompositeRule* rule : rules_)
      is_merged = merge(block, *rule, definitions, uses) || is_merged;
    return is_merged;
  }

 private:
  bool merge(lang::Block& block, const CompositeRule& rule, Definitions& definitions,
             BlockUses& uses) {
    std::vector<bool> is_taken(block.bindings.size(), false);  // into a composite further on
    bool is_merged = false;
    for (std::size_t place = block.bindings.size(); place-- > 0;) {
      if (is_taken[place]) continue;
      const auto match = match_composite(rule.pattern, block, definitions, uses, place);
      if (!match) continue;
      StepParameters params(fmt::format("FunctionVar_{}_", number_));
      for (const Expr& value : match->values) params.add(value);
      const Expr literal = literal_of(block, *match, uses, params, rule.name);
      if (!is_accepted(rule, literal)) continue;
      ++number_;
      lang::Binding& binding = block.bindings[place];
      binding.value = lang::make_call(literal, params.args(), nullptr, binding.value->span,
                                      binding.value->type);
      definitions.add(binding.variable, binding.value);
      uses.change(block, place);
      for (const std::size_t step : match->steps) is_taken[step] = step != place;
      is_merged = true;
    }
    if (!is_merged) return false;
    std::vector<lang::Binding> kept;
    for (std::size_t i = 0; i < block.bindings.size(); ++i) {
      if (!is_taken[i]) kept.push_back(std::move(block.bindings[i]));
    }
    block.bindings = std::move(kept);
    uses.read(block);
    return true;
  }

  // The steps of a match as a function literal; `name`: of the composite.
  static Expr literal_of(const lang::Block& block, const CompositeMatch& match,
                         const BlockUses& uses, const StepParameters& params,
                         const std::string& name) {
    lang::Block inner;
    std::string operators;
    for (const std::size_t place : match.steps) {
      const lang::Binding& binding = block.bindings[place];
      const lang::OpDef* op = operator_of(binding.value);
      operators +=
          fmt::format("{}_", op ? op->name : std::string(lang::name_of(binding.value->kind)));
      inner.bindings.push_back({binding.variable,
                                with_parameters(binding.value, uses.used_at(place), params),
                                binding.span});
    }
    const lang::Binding last = inner.bindings.back();
    inner.bindings.pop_back();
    inner.result = last.value;
    lang::AttrsRef attrs = lang::with_fact(FunctionFact::PartitionedFromPattern, operators);
    attrs = lang::with_fact(FunctionFact::Composite, name, attrs);
    return literal_of_steps(params, inner, std::move(attrs), last.span);
  }

  static bool is_accepted(const CompositeRule& rule, const Expr& literal) {
    if (!rule.refusal) return true;
    const auto graph = lang::capture(
        [&] { return lang::external_graph(lang::cast<lang::Function>(literal), false); });
    return graph && rule.refusal(*graph).empty();
  }

  const std::vector<const CompositeRule*>& rules_;
  lang::Program* program_;
  std::size_t number_ = 0;
};

}  // namespace

Expr merge_composites(const Expr& function, const std::vector<lang::ExternalCompiler*>& compilers,
                      Composites& composites, PassProgram& program) {
  std::vector<const CompositeRule*> rules;
  for (lang::ExternalCompiler* compiler : compilers) {
    for (const CompositeRule& rule : composites.of(*compiler)) rules.push_back(&rule);
  }
  return rules.empty() ? function : CompositeMerger(rules, &program).run(function);
}

}  // namespace relay::opt
