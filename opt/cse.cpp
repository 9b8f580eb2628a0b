#include <optional>
#include <unordered_map>

#include "lang/alpha_equal.h"
#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/op_traits.h"
#include "lang/visit.h"
#include "opt/definitions.h"
#include "opt/effect.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::Expr;
using lang::ExprKind;

namespace {

// Values seen so far, of this scope and of those around it.
class Merger final : public lang::Rewriter {
 public:
  explicit Merger(lang::Program* program) : effects_(program) {}

  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    const std::size_t scope = seen_.size();
    bool changed = false;
    std::vector<lang::Binding> kept;
    for (auto& binding : opened.bindings) {
      const Expr value = renamed(binding.value);
      effects_.define(binding.variable, value);
      std::optional<Key> key = key_of(value);
      if (Expr known = key ? find(*key, value) : nullptr) {
        names_[binding.variable.get()] = known;
        changed = true;
        continue;
      }
      Expr inner = nested(value);
      changed = changed || !(inner == binding.value);
      if (!(inner == value)) key = key_of(inner);
      if (key) remember(std::move(*key), binding.variable);
      kept.push_back({binding.variable, std::move(inner), binding.span});
    }
    Expr result = nested(renamed(opened.result));
    changed = changed || !(result == opened.result);
    while (seen_.size() > scope) {
      by_hash_[seen_.back()].pop_back();
      seen_.pop_back();
    }
    return changed ? lang::close_block({std::move(kept), std::move(result)}) : expr;
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Let) return block(expr);
    if (lang::is_unit(expr)) return expr;
    return nullptr;
  }

 private:
  // One that has no effect can.
  static bool can_merge(const Expr& value) {
    switch (value->kind) {
      case ExprKind::Call:
      case ExprKind::Projection:
      case ExprKind::Primitive:
      case ExprKind::Index:
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce:
        return true;
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
    const lang::OpDef* op = operator_of(value);
    if (!op || !lang::is_commutative(*op)) return value;
    const auto& call = lang::cast<lang::Call>(value);
    if (lang::structural_hash(call.args[0]) <= lang::structural_hash(call.args[1])) return value;
    return lang::make_call(call.callee, {call.args[1], call.args[0]}, call.attrs, value->span,
                           value->type, call.algebra);
  }

  // What a value is found by.
  struct Key {
    Expr value;  // ordered
    std::size_t hash;
  };
  static std::optional<Key> key_of(const Expr& given) {
    if (!can_merge(given)) return std::nullopt;
    Expr value = ordered(given);
    const std::size_t hash = lang::structural_hash(value);
    return Key{std::move(value), hash};
  }

  Expr find(const Key& key, const Expr& given) {
    const auto found = by_hash_.find(key.hash);
    if (found == by_hash_.end()) return nullptr;
    for (const auto& [known, variable] : found->second) {
      // What may be regrouped is nothing for what keeps its bits to be merged with.
      if (lang::alpha_equal(known, key.value) && lang::equal(known->type, key.value->type) &&
          (!may_be_regrouped(known) || may_be_regrouped(key.value)) && !effects_.has_effect(given))
        return lang::make_var(variable, given->span);
    }
    return nullptr;
  }

  void remember(Key key, const lang::VariableRef& variable) {
    by_hash_[key.hash].emplace_back(std::move(key.value), variable);
    seen_.push_back(key.hash);
  }

  Effects effects_;
  lang::Substitution names_;
  std::unordered_map<std::size_t, std::vector<std::pair<Expr, lang::VariableRef>>> by_hash_;
  std::vector<std::size_t> seen_;  // their hashes, in order
};

}  // namespace

bool may_be_regrouped(const Expr& expr) {
  bool found = false;
  lang::visit_post_order(expr, [&](const Expr& node) {
    found = found || lang::algebra_of(node) == lang::Algebra::Real;
  });
  return found;
}

Expr eliminate_common_subexpressions(const Expr& expr, lang::Program* program) {
  return Merger(program).block(expr);
}

}  // namespace relay::opt
