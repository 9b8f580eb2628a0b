#include <fmt/format.h>

#include "lang/function_fact.h"
#include "lang/print.h"
#include "lang/visit.h"
#include "opt/analysis_text.h"

namespace relay::opt {

namespace {

std::vector<lang::Expr> fused_functions(const PassProgram& program) {
  std::vector<lang::Expr> groups;
  for (const auto& entry : program.functions()) {
    lang::visit_post_order(entry.function, [&](const lang::Expr& node) {
      if (lang::is_group(node)) groups.push_back(node);
    });
  }
  return groups;
}

}  // namespace

Analysis extract_fused_functions_analysis() {
  Analysis analysis;
  analysis.name = "extract_fused_functions";
  analysis.doc =
      "the groups of operators that are one kernel each; those of FuseOps where there are none yet";
  analysis.example = R"(def f(x: Tensor[(4), float32]) { sum(exp(x) * 2.0) })";
  analysis.run = [](PassProgram& program) -> std::string {
    if (fused_functions(program).empty()) program.run(pass_call("FuseOps", nullptr, {}));
    std::string text;
    int number = 0;
    for (const lang::Expr& group : fused_functions(program)) {
      text += lang::print_light_definition(fmt::format("fused_{}", ++number), group) + "\n";
    }
    return text.empty() ? "none\n" : text;
  };
  return analysis;
}

}  // namespace relay::opt
