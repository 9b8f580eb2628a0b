#include "opt/analysis_variables.h"

namespace relay::opt {

Analysis bound_vars_analysis() {
  Analysis analysis;
  analysis.name = "bound_vars";
  analysis.doc = "the variables that are bound, from outside to inside";
  analysis.example = R"(def f(x: float32) { let y = exp(x); y * y })";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const lang::Expr& root) -> std::string {
      return listed(names_of(bound_variables(root)));
    });
  };
  return analysis;
}

}  // namespace relay::opt
