#include <set>
#include <string>
#include <vector>

#include "lang/pointer_map.h"
#include "lang/visit.h"
#include "opt/analysis_text.h"

namespace relay::opt {

using lang::Expr;
using lang::ExprKind;

namespace {

// The names are those of Relay, without its `f`.
class FeatureSearch {
 public:
  explicit FeatureSearch(const Expr& root) {
    lang::visit_post_order(root, [this](const Expr& node) { look_at(node); });
  }
  std::vector<std::string> found() const { return {found_.begin(), found_.end()}; }

 private:
  void look_at(const Expr& node) {
    found_.insert(feature_of(node));
    lang::for_each_child(node, [&](const Expr& child) {
      if (!lang::is_leaf(child) && !seen_.insert(child.get())) found_.insert("Graph");
    });
    const auto* let = lang::as<lang::Let>(node);
    if (!let || let->value->kind != ExprKind::Function) return;
    for (const auto& variable : lang::free_variables(let->value)) {
      if (variable == let->variable) found_.insert("LetRec");
    }
  }

  static std::string feature_of(const Expr& node) {
    switch (node->kind) {
      case ExprKind::Var:
        return "Var";
      case ExprKind::GlobalVar:
        return "GlobalVar";
      case ExprKind::Constant:
      case ExprKind::Literal:
      case ExprKind::DimTerm:
        return "Constant";
      case ExprKind::Tuple:
        return "Tuple";
      case ExprKind::Projection:
        return "TupleGetItem";
      case ExprKind::Let:
        return "Let";
      case ExprKind::If:
        return "If";
      case ExprKind::Function:
        return "Function";
      case ExprKind::Call:
        return "Call";
      case ExprKind::Match:
        return "Match";
      case ExprKind::RefCreate:
        return "RefCreate";
      case ExprKind::RefRead:
        return "RefRead";
      case ExprKind::RefWrite:
        return "RefWrite";
      case ExprKind::Operator:
      case ExprKind::Primitive:
        return "Op";
      case ExprKind::ConstructorRef:
        return "Constructor";
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::Index:
      case ExprKind::ScatterReduce:
        return "IndexNotation";
      case ExprKind::Differentiate:
        return "Derivative";
    }
    return "";
  }

  std::set<std::string> found_;
  lang::PointerMap<lang::ExprNode, bool> seen_;  // as a part of something
};

}  // namespace

Analysis detect_feature_analysis() {
  Analysis analysis;
  analysis.name = "detect_feature";
  analysis.doc = "which parts of the language are used";
  analysis.example =
      R"(def f(x: float32, n: int32) -> float32 { if n == 0 { x } else { f(exp(x), n - 1) } })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program,
                            [](const Expr& root) { return listed(FeatureSearch(root).found()); });
  };
  return analysis;
}

}  // namespace relay::opt
