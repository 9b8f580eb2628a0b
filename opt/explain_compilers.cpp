#include "opt/explain_compilers.h"

#include <fmt/format.h>

#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/definitions.h"
#include "opt/external.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

class CompilerExplainer {
 public:
  explicit CompilerExplainer(const std::vector<lang::ExternalCompiler*>& compilers)
      : compilers_(compilers) {}

  std::string run(const Expr& code) {
    walk(code, {}, {});
    return std::move(text_);
  }

 private:
  // `runner`: of the function around; empty: Relay. `composite`: likewise.
  void walk(const Expr& root, const std::string& runner, const std::string& composite) {
    // In the order in which it runs; functions with facts on their own.
    if (const auto* fn = as<lang::Function>(root)) {
      const std::string* compiler = lang::compiler_of(root);
      const std::string* name = lang::find_text(*fn, lang::FunctionFact::Composite);
      walk(fn->body, compiler ? *compiler : runner, name ? *name : composite);
      return;
    }
    if (root->kind == lang::ExprKind::Let) {
      const lang::Block block = lang::open_block(root);
      for (const lang::Binding& binding : block.bindings) walk(binding.value, runner, composite);
      walk(block.result, runner, composite);
      return;
    }
    lang::for_each_child(root, [&](const Expr& child) {
      if (!lang::is_leaf(child)) walk(child, runner, composite);
    });
    const lang::OpDef* op = operator_of(root);
    if (op && !compiler_mark(root)) tell(root, *op, runner, composite);
  }

  void tell(const Expr& step, const lang::OpDef& op, const std::string& runner,
            const std::string& composite) {
    text_ += fmt::format("`{}`", op.name);
    if (step->span) {
      text_ += fmt::format(", {}, line {}", step->span.source->name(),
                           step->span.source->position(step->span.begin).line);
    }
    text_ += ": " + (runner.empty() ? std::string("Relay") : runner);
    if (!runner.empty() && !composite.empty()) text_ += fmt::format(", in `{}`", composite);
    text_ += '\n';
    for (lang::ExternalCompiler* compiler : compilers_) {
      if (compiler->name() == runner) continue;
      const std::string why = op.effect == lang::Effect::None
                                  ? refusal_of(*compiler, step)
                                  : std::string("it does something besides giving a value");
      text_ += fmt::format("  {}: {}\n", compiler->name(),
                           !why.empty()     ? why
                           : runner.empty() ? "it would, if it were handed over"
                                            : "it would, and was not asked first");
    }
  }

  const std::vector<lang::ExternalCompiler*>& compilers_;
  std::string text_;
};

}  // namespace

std::string explain_compilers(const Expr& code,
                              const std::vector<lang::ExternalCompiler*>& compilers) {
  return CompilerExplainer(compilers).run(code);
}

}  // namespace relay::opt
