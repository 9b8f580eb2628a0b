#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/composite.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::FunctionFact;

namespace {

struct CompositeRule {
  std::string name;
  PatternRule pattern;
  std::function<std::string(const lang::ExternalGraph&)> refusal;
};

// The steps of a match as a function literal with a parameter for each value; `name`: of it.
Expr literal_of(const lang::Block& block, const CompositeMatch& match, const std::string& name,
                std::size_t number) {
  std::vector<lang::VariableRef> params;
  lang::Block inner;
  std::string operators;
  const auto param_for = [&](const Expr& value) -> Expr {
    for (std::size_t i = 0; i < match.values.size(); ++i) {
      if (is_same_value(match.values[i], value)) return lang::make_var(params[i]);
    }
    return value;
  };
  for (const Expr& value : match.values) {
    params.push_back(lang::make_variable(fmt::format("FunctionVar_{}_{}", number, params.size()),
                                         value->type, value->span));
  }
  for (const std::size_t place : match.steps) {
    const lang::Binding& binding = block.bindings[place];
    const lang::OpDef* op = operator_of(binding.value);
    operators +=
        fmt::format("{}_", op ? op->name : std::string(lang::name_of(binding.value->kind)));
    lang::Substitution renamed;
    for (const auto& variable : lang::free_variables(binding.value)) {
      const Expr value = lang::make_var(variable);
      const Expr now = param_for(value);
      if (!(now == value)) renamed[variable.get()] = now;
    }
    Expr step = lang::substitute(binding.value, renamed);
    // Constants that stand for a parameter.
    if (const auto* call = as<lang::Call>(step)) {
      std::vector<Expr> args;
      for (const Expr& arg : call->args)
        args.push_back(arg->kind == ExprKind::Constant || arg->kind == ExprKind::GlobalVar
                           ? param_for(arg)
                           : arg);
      step = lang::make_call(call->callee, std::move(args), call->attrs, step->span, step->type,
                             call->algebra);
    }
    inner.bindings.push_back({binding.variable, std::move(step), binding.span});
  }
  const lang::Binding last = inner.bindings.back();
  inner.bindings.pop_back();
  inner.result = last.value;
  const Expr plain = lang::build::function(params, lang::close_block(inner));
  const auto& fn = lang::cast<lang::Function>(plain);
  lang::AttrsRef attrs = lang::with_fact(FunctionFact::PartitionedFromPattern, operators);
  attrs = lang::with_fact(FunctionFact::Composite, name, attrs);
  return lang::rename_bound(
      lang::make_function(fn.params, fn.body->type, fn.body, {}, attrs, last.span, plain->type));
}

class CompositeMerger final : public BlockRewriter {
 public:
  CompositeMerger(const std::vector<CompositeRule>& rules, lang::Program* program)
      : rules_(rules), program_(program) {}

 protected:
  bool rewrite(lang::Block& block) override {
    bool is_merged = false;
    Effects effects(program_);
    std::optional<BlockUses> uses;
    Definitions definitions;
    for (const lang::Binding& binding : block.bindings)
      definitions.add(binding.variable, binding.value);
    for (const CompositeRule& rule : rules_) {
      bool is_changed = false;
      std::vector<bool> is_taken(block.bindings.size(), false);
      for (std::size_t place = block.bindings.size(); place-- > 0;) {
        if (is_taken[place]) continue;
        if (!uses) uses.emplace(block, effects);
        const auto match = match_composite(rule.pattern, block, definitions, *uses, place);
        if (!match || is_any_taken(is_taken, match->steps)) continue;
        const Expr literal = literal_of(block, *match, rule.name, number_);
        if (!is_accepted(rule, literal)) continue;
        ++number_;
        for (const std::size_t step : match->steps) is_taken[step] = true;
        lang::Binding& binding = block.bindings[place];
        binding.value = lang::make_call(literal, match->values, nullptr, binding.value->span,
                                        binding.value->type);
        definitions.add(binding.variable, binding.value);
        uses.reset();
        is_changed = true;
      }
      if (is_changed) drop_unused(block, is_taken);
      if (is_changed) uses.reset();
      is_merged = is_merged || is_changed;
    }
    return is_merged;
  }

 private:
  static bool is_any_taken(const std::vector<bool>& is_taken,
                           const std::vector<std::size_t>& steps) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](std::size_t step) { return is_taken[step]; });
  }

  static bool is_accepted(const CompositeRule& rule, const Expr& literal) {
    if (!rule.refusal) return true;
    const auto graph = lang::capture(
        [&] { return lang::external_graph(lang::cast<lang::Function>(literal), false); });
    return graph && rule.refusal(*graph).empty();
  }

  // The steps that have gone into composites: all that were taken but calls of composites.
  static void drop_unused(lang::Block& block, const std::vector<bool>& is_taken) {
    std::vector<lang::Binding> kept;
    for (std::size_t i = 0; i < block.bindings.size(); ++i) {
      const auto* call = as<lang::Call>(block.bindings[i].value);
      const bool is_composite = call && lang::is_unit(call->callee);
      if (!is_taken[i] || is_composite) kept.push_back(std::move(block.bindings[i]));
    }
    block.bindings = std::move(kept);
  }

  const std::vector<CompositeRule>& rules_;
  lang::Program* program_;
  std::size_t number_ = 0;
};

}  // namespace

Expr merge_composites(const Expr& function, const std::vector<lang::ExternalCompiler*>& compilers,
                      PassProgram& program) {
  std::vector<CompositeRule> rules;
  for (lang::ExternalCompiler* compiler : compilers) {
    for (const lang::CompositePattern& each : compiler->composites()) {
      const auto patterns = lang::capture([&] {
        const std::string text = fmt::format("pattern {}{}", each.name, each.pattern);
        return pattern_rules(program.host().parse_rules(each.name, text));
      });
      if (!patterns || patterns->size() != 1) {
        lang::Diagnostic diagnostic(
            lang::DiagnosticKind::BadData,
            fmt::format("the pattern `{}` of the external compiler `{}` is none: {}", each.name,
                        compiler->name(),
                        patterns ? "there is more behind it" : patterns.errors().front().message));
        throw lang::Failure(std::move(diagnostic));
      }
      rules.push_back({each.name, patterns->front(), each.refusal});
    }
  }
  return rules.empty() ? function : CompositeMerger(rules, &program).run(function);
}

}  // namespace relay::opt
