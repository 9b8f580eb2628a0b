#include <fmt/format.h>

#include "opt/analysis_operators.h"
#include "opt/analysis_text.h"

namespace relay::opt {

Analysis list_op_freqs_analysis() {
  Analysis analysis;
  analysis.name = "list_op_freqs";
  analysis.doc = "how often each operator is used";
  analysis.example = R"(def f(x: float32) { exp(x) * exp(2.0 * x) })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program, [](const lang::Expr& root) {
      std::vector<std::string> counts;
      for (const auto& [name, count] : operators_in(root))
        counts.push_back(fmt::format("{} {}", name, count));
      return listed(counts);
    });
  };
  return analysis;
}

}  // namespace relay::opt
