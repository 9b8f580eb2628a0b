#include "lang/visit.h"
#include "opt/analysis_variables.h"

namespace relay::opt {

Analysis all_vars_analysis() {
  Analysis analysis;
  analysis.name = "all_vars";
  analysis.doc = "the variables that are bound or free";
  analysis.example = R"(def f(x: float32) { let y = exp(x); y * y })";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const lang::Expr& root) -> std::string {
      std::vector<lang::VariableRef> variables = bound_variables(root);
      for (const auto& free : lang::free_variables(root)) variables.push_back(free);
      return listed(names_of(variables));
    });
  };
  return analysis;
}

}  // namespace relay::opt
