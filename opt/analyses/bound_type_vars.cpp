#include "opt/analysis_variables.h"

namespace relay::opt {

Analysis bound_type_vars_analysis() {
  Analysis analysis;
  analysis.name = "bound_type_vars";
  analysis.doc = "the variables of types that functions bind, with their kinds";
  analysis.example = R"(def f[A, n](x: A, y: Tensor[(n), float32]) { x })";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const lang::Expr& root) -> std::string {
      return listed(with_kinds(bound_type_variables(root)));
    });
  };
  return analysis;
}

}  // namespace relay::opt
