#include "tests/support/conformance_external.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/print.h"
#include "lang/visit.h"
#include "tests/support/marked_compiler.h"

namespace relay::tests {
namespace {

using lang::Expr;

const std::string kNone = "-";
const std::string kDefault = "default";

// What variables of `let` stand for.
std::map<const lang::Variable*, Expr> definitions_of(const Expr& code) {
  std::map<const lang::Variable*, Expr> found;
  lang::visit_post_order(code, [&](const Expr& node) {
    if (const auto* let = lang::as<lang::Let>(node)) found[let->variable.get()] = let->value;
  });
  return found;
}

const std::string* op_of(const Expr& expr) {
  const auto* call = lang::as<lang::Call>(expr);
  const auto* op = call ? lang::as<lang::Operator>(call->callee) : nullptr;
  return op ? &op->op->name : nullptr;
}

struct Step {
  std::string op;                      // or `Composite` and its name
  std::vector<std::string> compilers;  // that its arguments are marked for; `-` for none
  const lang::Function* composite = nullptr;
};

std::vector<Step> steps_of(const Expr& code) {
  const auto definitions = definitions_of(code);
  const auto value_of = [&](Expr expr) {
    while (const auto* var = lang::as<lang::Var>(expr)) {
      const auto found = definitions.find(var->variable.get());
      if (found == definitions.end()) break;
      expr = found->second;
    }
    return expr;
  };
  std::vector<Step> steps;
  lang::visit_post_order(code, [&](const Expr& node) {
    const auto* call = lang::as<lang::Call>(node);
    if (!call) return;
    const std::string* op = op_of(node);
    if (op && op->starts_with("annotation.compiler_")) return;
    const auto* fn = lang::as<lang::Function>(value_of(call->callee));
    const std::string* composite =
        fn ? lang::find_text(*fn, lang::FunctionFact::Composite) : nullptr;
    if (!op && !composite) return;
    Step step;
    step.op = op ? *op : "Composite " + *composite;
    if (composite) {
      step.composite = fn;
      const auto* parts = lang::find_text(*fn, lang::FunctionFact::PartitionedFromPattern);
      if (parts) step.op += " of " + *parts;
    }
    for (const Expr& arg : call->args) {
      const Expr value = value_of(arg);
      const std::string* mark = op_of(value);
      const bool is_marked = mark && *mark == "annotation.compiler_begin";
      step.compilers.push_back(
          is_marked ? lang::cast<lang::Call>(value).attrs->get_string("compiler") : kNone);
    }
    steps.push_back(std::move(step));
  });
  return steps;
}

std::string text_of(const Expr& code, bool tells_default) {
  std::vector<std::string> lines;
  for (Step& step : steps_of(code)) {
    if (!tells_default) std::replace(step.compilers.begin(), step.compilers.end(), kDefault, kNone);
    lines.push_back(fmt::format("{}({})", step.op, fmt::join(step.compilers, ", ")));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, "; "));
}

// The composite as a pattern: without what the pass has written at it.
lang::CompositePattern pattern_of(const lang::Function& composite) {
  const std::string* name = lang::find_text(composite, lang::FunctionFact::Composite);
  std::vector<std::string> params;
  for (const lang::VariableRef& param : composite.params) params.push_back(param->name);
  return {*name,
          fmt::format("({}) {{ {} }}", fmt::join(params, ", "), lang::print_light(composite.body))};
}

}  // namespace

RecordedCompilers recorded_compilers(const std::string& pass, const Expr& theirs) {
  std::map<std::string, std::set<std::string>> operators;
  std::vector<lang::CompositePattern> patterns;
  for (const Step& step : steps_of(theirs)) {
    if (pass == "MergeComposite") {
      if (step.composite) patterns.push_back(pattern_of(*step.composite));
      continue;
    }
    for (const std::string& compiler : step.compilers) {
      if (compiler != kNone && compiler != kDefault) operators[compiler].insert(step.op);
    }
  }
  // The larger ones first, as Relay's tables have them.
  std::stable_sort(patterns.begin(), patterns.end(), [](const auto& a, const auto& b) {
    return a.pattern.size() > b.pattern.size();
  });
  if (pass == "MergeComposite") operators["recorded"] = {};
  RecordedCompilers made;
  std::vector<std::string> names;
  for (const auto& [name, taken] : operators) {
    names.push_back(fmt::format("\"{}\"", name));
    made.compilers.push_back(std::make_unique<MarkedCompiler>(name, taken, patterns));
  }
  if (names.empty()) {
    names.push_back("\"nobody\"");
    made.compilers.push_back(
        std::make_unique<MarkedCompiler>("nobody", std::set<std::string>(), patterns));
  }
  made.pass =
      fmt::format("{}({}{})", pass, pass == "AnnotateTarget" ? "include_non_call_ops=False, " : "",
                  fmt::join(names, ", "));
  return made;
}

std::string compare_marks(const Expr& ours, const Expr& theirs, bool tells_default) {
  const std::string a = text_of(ours, tells_default);
  const std::string b = text_of(theirs, tells_default);
  return a == b ? "" : fmt::format("handed over: {}\nRelay: {}", a, b);
}

}  // namespace relay::tests
