#include "opt/graph_form.h"

#include <algorithm>

#include "lang/function_fact.h"
#include "lang/pointer_map.h"
#include "lang/visit.h"
#include "opt/effect.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

// The variables that parts of some kinds use and do not bind.
class InnerUses {
 public:
  InnerUses(const Expr& root, KeepLets keep) {
    lang::visit_post_order(root, [&](const Expr& node) {
      switch (node->kind) {
        case ExprKind::Function:
        case ExprKind::Comprehension:
        case ExprKind::Reduction:
        case ExprKind::ScatterReduce:
          return add(node);
        case ExprKind::If:
          if (keep == KeepLets::OfRepeatedCode) return;
          add(lang::cast<lang::If>(node).then_branch);
          return add(lang::cast<lang::If>(node).else_branch);
        case ExprKind::Match:
          if (keep == KeepLets::OfRepeatedCode) return;
          for (const auto& clause : lang::cast<lang::Match>(node).clauses) add(clause.body);
          return;
        default:
          return;
      }
    });
  }
  bool has(const lang::VariableRef& variable) const { return used_.contains(variable.get()); }

 private:
  void add(const Expr& part) {
    for (const auto& variable : lang::free_variables(part)) used_.insert(variable.get());
  }
  lang::PointerSet<lang::Variable> used_;
};

class LetRemover final : public lang::Rewriter {
 public:
  LetRemover(const Expr& root, KeepLets keep, lang::Program* program)
      : keep_(keep), inner_(root, keep), effects_(program) {}

 protected:
  Expr pre(const Expr& expr) override {
    if (const auto* var = as<lang::Var>(expr)) {
      const Expr* node = nodes_.find(var->variable.get());
      return node ? *node : Expr();
    }
    if (lang::is_unit(expr)) return expr;
    return expr->kind == ExprKind::Let ? block(expr) : Expr();
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    std::vector<lang::Binding> kept;
    for (lang::Binding& binding : opened.bindings) {
      effects_.define(binding.variable, binding.value);
      Expr value = rewrite(binding.value);
      changed = changed || !(value == binding.value);
      if (stays(binding)) {
        kept.push_back({binding.variable, std::move(value), binding.span});
      } else {
        changed = true;
        nodes_[binding.variable.get()] = lang::with_type(value, binding.variable->type);
      }
    }
    Expr result = rewrite(opened.result);
    changed = changed || !(result == opened.result);
    return changed ? lang::close_block({std::move(kept), std::move(result)}) : expr;
  }

  bool stays(const lang::Binding& binding) {
    if (lang::is_leaf(binding.value)) return false;
    if (effects_.has_effect(binding.value)) return true;
    if (binding.value->kind != ExprKind::Function || keep_ == KeepLets::OfInnerScopes)
      return inner_.has(binding.variable);
    const auto used = lang::free_variables(binding.value);  // by itself: it is recursive
    return std::find(used.begin(), used.end(), binding.variable) != used.end();
  }

  const KeepLets keep_;
  InnerUses inner_;
  Effects effects_;
  lang::PointerMap<lang::Variable, Expr> nodes_;
};

}  // namespace

Expr without_lets(const Expr& expr, KeepLets keep, lang::Program* program) {
  return LetRemover(expr, keep, program).rewrite(expr);
}

}  // namespace relay::opt
