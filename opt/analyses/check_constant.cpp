#include <algorithm>

#include "opt/analysis_text.h"

namespace relay::opt {

namespace {

bool is_constant(const lang::Expr& expr) {
  if (const auto* tuple = lang::as<lang::Tuple>(expr))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), is_constant);
  return expr->kind == lang::ExprKind::Constant || expr->kind == lang::ExprKind::Literal;
}

}  // namespace

Analysis check_constant_analysis() {
  Analysis analysis;
  analysis.name = "check_constant";
  analysis.doc = "whether what is computed is a constant, or a tuple of constants";
  analysis.example = R"(def f(x: float32) { (1.0, (2.0, 3.0)) })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program, [](const lang::Expr& root) {
      const auto* fn = lang::as<lang::Function>(root);
      return std::string(is_constant(fn ? fn->body : root) ? "yes" : "no");
    });
  };
  return analysis;
}

}  // namespace relay::opt
