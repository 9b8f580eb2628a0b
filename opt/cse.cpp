#include <unordered_map>

#include "lang/alpha_equal.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::Expr;
using lang::ExprKind;

namespace {

// Values seen so far, of this scope and of those around it.
class Merger final : public lang::Rewriter {
 public:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    const std::size_t scope = seen_.size();
    bool changed = false;
    std::vector<lang::Binding> kept;
    for (auto& binding : opened.bindings) {
      Expr value = renamed(binding.value);
      if (Expr known = find(value)) {
        names_[binding.variable.get()] = known;
        changed = true;
        continue;
      }
      Expr inner = nested(value);
      changed = changed || !(inner == binding.value);
      remember(inner, binding.variable);
      kept.push_back({binding.variable, std::move(inner), binding.span});
    }
    Expr result = nested(renamed(opened.result));
    changed = changed || !(result == opened.result);
    while (seen_.size() > scope) {
      by_hash_[seen_.back().first].pop_back();
      seen_.pop_back();
    }
    return changed ? lang::close_block({std::move(kept), std::move(result)}) : expr;
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Let) return block(expr);
    return nullptr;
  }

 private:
  static bool can_merge(const Expr& value) {
    switch (value->kind) {
      case ExprKind::Call:
      case ExprKind::Projection:
      case ExprKind::Primitive:
      case ExprKind::Index:
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce:
        return !has_effect(value);
      case ExprKind::Tuple:
        return !lang::cast<lang::Tuple>(value).fields.empty();
      default:
        return false;
    }
  }

  Expr renamed(const Expr& expr) { return names_.empty() ? expr : lang::substitute(expr, names_); }
  Expr nested(const Expr& expr) { return rewrite(expr); }

  // Sums and products with their operands in one order: `a * b` has the bits of `b * a`.
  static Expr ordered(const Expr& value) {
    const auto* call = lang::as<lang::Call>(value);
    const auto* op = call ? lang::as<lang::Operator>(call->callee) : nullptr;
    if (!op || (op->op->name != "add" && op->op->name != "multiply")) return value;
    if (lang::structural_hash(call->args[0]) <= lang::structural_hash(call->args[1])) return value;
    return lang::make_call(call->callee, {call->args[1], call->args[0]}, call->attrs, value->span,
                           value->type, call->algebra);
  }

  Expr find(const Expr& given) {
    if (!can_merge(given)) return nullptr;
    const Expr value = ordered(given);
    const auto found = by_hash_.find(lang::structural_hash(value));
    if (found == by_hash_.end()) return nullptr;
    for (const auto& [known, variable] : found->second) {
      if (lang::alpha_equal(known, value) && lang::equal(known->type, value->type) &&
          (!may_be_regrouped(known) || may_be_regrouped(value)))
        return lang::make_var(variable, given->span);
    }
    return nullptr;
  }

  // What may be regrouped is nothing for what keeps its bits to be merged with.
  static bool may_be_regrouped(const Expr& expr) {
    bool found = false;
    lang::visit_post_order(expr, [&](const Expr& node) {
      found = found || lang::algebra_of(node) == lang::Algebra::Real;
    });
    return found;
  }

  void remember(const Expr& given, const lang::VariableRef& variable) {
    if (!can_merge(given)) return;
    const Expr value = ordered(given);
    const std::size_t hash = lang::structural_hash(value);
    by_hash_[hash].emplace_back(value, variable);
    seen_.emplace_back(hash, value);
  }

  lang::Substitution names_;
  std::unordered_map<std::size_t, std::vector<std::pair<Expr, lang::VariableRef>>> by_hash_;
  std::vector<std::pair<std::size_t, Expr>> seen_;
};

}  // namespace

Expr eliminate_common_subexpressions(const Expr& expr) { return Merger().block(expr); }

}  // namespace relay::opt
