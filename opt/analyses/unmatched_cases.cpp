#include "lang/match_check.h"
#include "lang/visit.h"
#include "opt/analysis_text.h"

namespace relay::opt {

using lang::Expr;

Analysis unmatched_cases_analysis() {
  Analysis analysis;
  analysis.name = "unmatched_cases";
  analysis.doc = "the patterns that a match misses";
  analysis.example = R"(def f(xs: List[float32]) { match? (xs, 1) { (Cons(x, Nil), n) => x } })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program, [](const Expr& root) {
      std::string text;
      lang::visit_post_order(root, [&](const Expr& node) {
        const auto* match = lang::as<lang::Match>(node);
        if (!match) return;
        const lang::MatchReport report = lang::check_match(match->clauses);
        if (report.missing.empty() && !report.is_too_large) return;
        text += (text.empty() ? "" : "\n") + std::string("match ") + in_one_line(match->scrutinee) +
                ": " + (report.is_too_large ? "too many cases to tell" : listed(report.missing));
      });
      return text.empty() ? std::string("none") : text;
    });
  };
  return analysis;
}

}  // namespace relay::opt
