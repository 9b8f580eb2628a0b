#include "lang/visit.h"
#include "opt/analysis_variables.h"

namespace relay::opt {

Analysis free_vars_analysis() {
  Analysis analysis;
  analysis.name = "free_vars";
  analysis.doc = "the variables that each function inside uses from outside of itself";
  analysis.example = "def f(x: float32) { let g = fn (y: float32) { x * y }; g(2.0) }";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const lang::Expr& root) {
      std::string text;
      lang::visit_post_order(root, [&](const lang::Expr& node) {
        const auto* fn = lang::as<lang::Function>(node);
        if (!fn || node == root) return;
        text += "fn (" + joined_names(fn->params) +
                "): " + listed(names_of(lang::free_variables(node))) + "\n";
      });
      text += "the whole: " + listed(names_of(lang::free_variables(root)));
      return text;
    });
  };
  return analysis;
}

}  // namespace relay::opt
