#include <algorithm>

#include "opt/analysis_variables.h"

namespace relay::opt {

Analysis free_type_vars_analysis() {
  Analysis analysis;
  analysis.name = "free_type_vars";
  analysis.doc = "the variables that types mention and no function binds, with their kinds";
  analysis.example = R"(def f[A, n](x: A, y: Tensor[(n), float32]) { x })";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const lang::Expr& root) -> std::string {
      const auto bound = bound_type_variables(root);
      std::vector<lang::TypeVarRef> free = all_type_variables(root);
      std::erase_if(free, [&](const lang::TypeVarRef& variable) {
        return std::find(bound.begin(), bound.end(), variable) != bound.end();
      });
      return listed(with_kinds(free));
    });
  };
  return analysis;
}

}  // namespace relay::opt
