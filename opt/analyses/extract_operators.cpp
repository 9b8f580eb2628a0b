#include "opt/analysis_operators.h"
#include "opt/analysis_text.h"

namespace relay::opt {

Analysis extract_operators_analysis() {
  Analysis analysis;
  analysis.name = "extract_operators";
  analysis.doc = "the operators that are used";
  analysis.example = R"(def f(x: float32) { exp(x) * exp(2.0 * x) })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program, [](const lang::Expr& root) {
      std::vector<std::string> names;
      for (const auto& [name, count] : operators_in(root)) names.push_back(name);
      return listed(names);
    });
  };
  return analysis;
}

}  // namespace relay::opt
