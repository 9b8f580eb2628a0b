#include <fmt/format.h>
#include <fmt/ranges.h>

#include "opt/analysis_text.h"
#include "opt/dataflow.h"

namespace relay::opt {

Analysis dependency_graph_analysis() {
  Analysis analysis;
  analysis.name = "dependency_graph";
  analysis.doc = "the values that are computed, each with those that it is made of";
  analysis.example = "def f(x: float32) { let a = sin(x); let b = exp(a); a * b }";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const lang::Expr& root) {
      std::string text;
      for (const auto& value : dataflow_of(root).values) {
        text += fmt::format("{}{} = {}({})", text.empty() ? "" : "\n", value.name, value.maker,
                            fmt::join(value.operands, ", "));
      }
      return text.empty() ? std::string("nothing is computed") : text;
    });
  };
  return analysis;
}

}  // namespace relay::opt
