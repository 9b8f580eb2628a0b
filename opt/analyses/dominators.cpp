#include <fmt/format.h>

#include "opt/analysis_text.h"
#include "opt/dataflow.h"

namespace relay::opt {

Analysis dominators_analysis() {
  Analysis analysis;
  analysis.name = "dominators";
  analysis.doc =
      "of each value the nearest one that all of its uses go through, by which fusion decides";
  analysis.example =
      "def f(x: float32) { let a = sin(x); let b = exp(a); let c = cos(a); b * c + 1.0 }";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const lang::Expr& root) {
      const Dataflow flow = dataflow_of(root);
      const std::vector<std::size_t> dominators = post_dominators(flow);
      std::string text;
      for (std::size_t i = 0; i < dominators.size(); ++i) {
        const bool is_last = dominators[i] == i;
        text +=
            fmt::format("{}{} {}: {}", text.empty() ? "" : "\n", flow.values[i].name,
                        flow.values[i].maker, is_last ? "none" : flow.values[dominators[i]].name);
      }
      return text.empty() ? std::string("nothing is computed") : text;
    });
  };
  return analysis;
}

}  // namespace relay::opt
