#include "opt/analysis_variables.h"

namespace relay::opt {

Analysis all_type_vars_analysis() {
  Analysis analysis;
  analysis.name = "all_type_vars";
  analysis.doc = "the variables that types mention, with their kinds";
  analysis.example = R"(def f[A, n](x: A, y: Tensor[(n), float32]) { x })";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const lang::Expr& root) -> std::string {
      return listed(with_kinds(all_type_variables(root)));
    });
  };
  return analysis;
}

}  // namespace relay::opt
