#include <string>
#include <vector>

#include "lang/pointer_map.h"
#include "lang/visit.h"
#include "opt/analysis_text.h"

namespace relay::opt {

using lang::Expr;
using lang::ExprKind;

namespace {

// A node whose value two scopes need; null if there is none. Bodies, branches and clauses are
// scopes.
Expr used_in_two_scopes(const Expr& root) {
  struct Use {
    Expr expr;
    std::size_t scope;
  };
  lang::PointerMap<lang::ExprNode, std::size_t> scopes;
  std::vector<Use> open{{root, 0}};
  std::size_t last = 0;
  while (!open.empty()) {
    const auto [expr, scope] = open.back();
    open.pop_back();
    if (lang::is_leaf(expr)) continue;
    if (const std::size_t* known = scopes.find(expr.get())) {
      if (*known != scope) return expr;
      continue;
    }
    scopes[expr.get()] = scope;
    const bool is_body = expr->kind == ExprKind::Function;
    const bool has_branches = expr->kind == ExprKind::If || expr->kind == ExprKind::Match;
    bool is_first = true;
    lang::for_each_child(expr, [&](const Expr& child) {
      const bool is_inner = is_body || (has_branches && !is_first);
      open.push_back({child, is_inner ? ++last : scope});
      is_first = false;
    });
  }
  return nullptr;
}

}  // namespace

Analysis check_basic_block_normal_form_analysis() {
  Analysis analysis;
  analysis.name = "check_basic_block_normal_form";
  analysis.doc = "whether each value that several scopes use has a name";
  analysis.example =
      R"(def f(x: float32, n: int32) { let a = exp(x); if n > 0 { a * a } else { a } })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program, [](const Expr& root) {
      const Expr found = used_in_two_scopes(root);
      return found ? "no: `" + in_one_line(found) + "` is used in several scopes" : "yes";
    });
  };
  return analysis;
}

}  // namespace relay::opt
