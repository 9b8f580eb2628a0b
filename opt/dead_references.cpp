#include "opt/dead_references.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/function_fact.h"
#include "lang/visit.h"
#include "opt/definitions.h"
#include "opt/effect.h"
#include "opt/may_fail.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

using References = std::unordered_set<const lang::Variable*>;

// The references that are only read and written, in the function that makes them.
class LocalReferences {
 public:
  References run(const Expr& root) {
    block(root, 0);
    References local;
    for (const auto& [variable, function] : made_) {
      if (!leaving_.contains(variable)) local.insert(variable);
    }
    return local;
  }

 private:
  void block(const Expr& expr, int function) {
    const Expr* at = &expr;
    while (const auto* let = as<lang::Let>(*at)) {
      if (let->value->kind == ExprKind::RefCreate) made_[let->variable.get()] = function;
      value(let->value, function);
      at = &let->body;
    }
    value(*at, function);
  }

  void value(const Expr& expr, int function) {
    switch (expr->kind) {
      case ExprKind::RefRead:
        return use(lang::cast<lang::RefRead>(expr).ref, function);
      case ExprKind::RefWrite:
        use(lang::cast<lang::RefWrite>(expr).ref, function);
        return leave(lang::cast<lang::RefWrite>(expr).value);
      case ExprKind::If: {
        const auto& node = lang::cast<lang::If>(expr);
        leave(node.condition);
        block(node.then_branch, function);
        return block(node.else_branch, function);
      }
      case ExprKind::Match: {
        const auto& node = lang::cast<lang::Match>(expr);
        leave(node.scrutinee);
        for (const lang::Clause& clause : node.clauses) block(clause.body, function);
        return;
      }
      case ExprKind::Function:
        return block(lang::cast<lang::Function>(expr).body, ++functions_);
      default:
        return leave(expr);
    }
  }

  void use(const Expr& reference, int function) {
    const lang::Variable* variable = variable_of(reference);
    const auto found = made_.find(variable);
    if (found == made_.end()) return leave(reference);
    if (found->second != function) leaving_.insert(variable);
  }

  void leave(const Expr& expr) {
    lang::visit_post_order(expr, [&](const Expr& node) {
      if (const lang::Variable* variable = variable_of(node)) leaving_.insert(variable);
    });
  }

  int functions_ = 0;
  std::unordered_map<const lang::Variable*, int> made_;  // and in which function
  References leaving_;
};

// One walk from the end to the beginning.
class ReferenceCleaner {
 public:
  ReferenceCleaner(lang::Program* program, Unused unused, References local)
      : effects_(program), unused_(unused), local_(std::move(local)) {}

  // `live`: the local references that may be read behind the block, then in front of it.
  Expr block(const Expr& expr, References& live) {
    lang::Block opened = lang::open_block(expr);
    for (const lang::Binding& binding : opened.bindings) {
      effects_.define(binding.variable, binding.value);
      failures_.define(binding.variable, binding.value);
    }
    Expr result = kept(opened.result, live, true);
    bool changed = !(result == opened.result);
    use_all(result);
    std::vector<lang::Binding> reversed;
    for (std::size_t i = opened.bindings.size(); i-- > 0;) {
      lang::Binding& binding = opened.bindings[i];
      const bool is_used = used_.contains(binding.variable.get());
      Expr value = may_go(binding.value, is_used) ? Expr() : kept(binding.value, live, is_used);
      changed = changed || !(value == binding.value);
      if (!value) continue;
      if (value->kind == ExprKind::RefCreate) live.erase(binding.variable.get());
      use_all(value);
      reversed.push_back({binding.variable, std::move(value), binding.span});
    }
    if (!changed) return expr;
    return lang::close_block({{reversed.rbegin(), reversed.rend()}, std::move(result)});
  }

 private:
  bool may_go(const Expr& value, bool is_used) {
    if (is_used) return false;
    if (value->kind == ExprKind::RefCreate || value->kind == ExprKind::RefRead) return true;
    if (unused_ == Unused::Stays) return false;
    return !effects_.has_effect(value) && !failures_.may_fail(value);
  }

  // What is left of a value; null where that is nothing.
  Expr kept(const Expr& value, References& live, bool is_used) {
    switch (value->kind) {
      case ExprKind::RefRead:
        live.insert(variable_of(lang::cast<lang::RefRead>(value).ref));
        return value;
      case ExprKind::RefWrite: {
        const lang::Variable* variable = variable_of(lang::cast<lang::RefWrite>(value).ref);
        if (!local_.contains(variable)) return value;
        if (live.erase(variable) > 0) return value;
        return is_used ? lang::make_tuple({}, value->span, value->type) : Expr();
      }
      case ExprKind::If: {
        const auto& node = lang::cast<lang::If>(value);
        References other = live;
        Expr then_branch = block(node.then_branch, live);
        Expr else_branch = block(node.else_branch, other);
        live.merge(other);
        if (then_branch == node.then_branch && else_branch == node.else_branch) return value;
        return lang::make_if(node.condition, std::move(then_branch), std::move(else_branch),
                             value->span, value->type);
      }
      case ExprKind::Match:
        return kept_match(value, live);
      case ExprKind::Function: {
        const auto& node = lang::cast<lang::Function>(value);
        if (lang::is_unit(value)) return value;
        References none;
        Expr body = block(node.body, none);
        if (body == node.body) return value;
        return lang::make_function(node.params, node.result, std::move(body), node.type_params,
                                   node.attrs, value->span, value->type);
      }
      default:
        return value;
    }
  }

  Expr kept_match(const Expr& value, References& live) {
    const auto& node = lang::cast<lang::Match>(value);
    const References behind = live;
    std::vector<lang::Clause> clauses;
    bool changed = false;
    for (const lang::Clause& clause : node.clauses) {
      References own = behind;
      clauses.push_back({clause.pattern, block(clause.body, own)});
      changed = changed || !(clauses.back().body == clause.body);
      live.merge(own);
    }
    if (!changed) return value;
    return lang::make_match(node.scrutinee, std::move(clauses), node.is_complete, value->span,
                            value->type);
  }

  void use_all(const Expr& value) {
    if (lang::is_leaf(value)) {
      if (const lang::Variable* variable = variable_of(value)) used_.insert(variable);
      return;
    }
    for (const auto& variable : lang::free_variables(value)) used_.insert(variable.get());
  }

  Effects effects_;
  PureFailures failures_{PureFailures::Counted::All};
  const Unused unused_;
  const References local_;
  References used_;
};

}  // namespace

Expr eliminate_dead_references(const Expr& expr, lang::Program* program, Unused unused) {
  // What is gone may have been the only user of what stands around it.
  Expr before;
  Expr after = expr;
  while (!(after == before)) {
    before = after;
    References none;
    after = ReferenceCleaner(program, unused, LocalReferences().run(before)).block(before, none);
  }
  return after;
}

}  // namespace relay::opt
