#include "opt/analysis_variables.h"

namespace relay::opt {

Analysis check_kind_analysis() {
  Analysis analysis;
  analysis.name = "check_kind";
  analysis.doc = "the kinds of the variables of types, and of what functions are";
  analysis.example = R"(def f[A, n](x: A, y: Tensor[(n), float32]) { x })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program, [](const lang::Expr& root) {
      const auto variables = with_kinds(all_type_variables(root));
      return variables.empty() ? std::string("Type") : "Type, of " + listed(variables);
    });
  };
  return analysis;
}

}  // namespace relay::opt
