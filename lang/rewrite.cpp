#include <algorithm>
#include <unordered_map>

#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/stop.h"
#include "lang/visit.h"

namespace relay::lang {
namespace {

// What a rebuilt node is made of.
struct Parts {
  std::function<Expr(const Expr&)> expr;
  std::function<VariableRef(const VariableRef&)> variable;
  std::function<Type(const Type&)> type;
};

std::vector<Expr> map_all(const std::vector<Expr>& exprs, const Parts& to) {
  std::vector<Expr> result;
  result.reserve(exprs.size());
  for (const Expr& expr : exprs) result.push_back(to.expr(expr));
  return result;
}

bool same(const std::vector<IndexBinder>& a, const std::vector<IndexBinder>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i].variable == b[i].variable) || !(a[i].extent == b[i].extent)) return false;
  }
  return true;
}

std::vector<IndexBinder> map_binders(const std::vector<IndexBinder>& binders, const Parts& to) {
  std::vector<IndexBinder> result;
  result.reserve(binders.size());
  for (const IndexBinder& binder : binders) {
    result.push_back(
        {to.variable(binder.variable), binder.extent ? to.expr(binder.extent) : nullptr});
  }
  return result;
}

PatternRef map_pattern(const PatternRef& pattern, const Parts& to) {
  switch (pattern->kind) {
    case PatternKind::Wildcard:
      return pattern;
    case PatternKind::Variable: {
      VariableRef variable = to.variable(pattern->variable);
      return variable == pattern->variable ? pattern
                                           : variable_pattern(std::move(variable), pattern->span);
    }
    case PatternKind::Constructor:
    case PatternKind::Tuple:
      break;
  }
  std::vector<PatternRef> fields;  // empty until one is another: a large record's have many
  for (std::size_t i = 0; i < pattern->fields.size(); ++i) {
    PatternRef field = map_pattern(pattern->fields[i], to);
    if (field == pattern->fields[i]) continue;
    if (fields.empty()) fields = pattern->fields;
    fields[i] = std::move(field);
  }
  if (fields.empty()) return pattern;
  return pattern->kind == PatternKind::Tuple
             ? tuple_pattern(std::move(fields), pattern->span)
             : constructor_pattern(pattern->constructor, std::move(fields), pattern->span);
}

Expr map_var(const Expr& expr, const Type& type, const Parts& to) {
  const auto& node = cast<Var>(expr);
  VariableRef variable = to.variable(node.variable);
  if (variable == node.variable) return with_type(expr, type);
  const bool follows_variable = node.type == node.variable->type;
  Expr var = make_var(std::move(variable), expr->span);
  return follows_variable ? var : with_type(var, type);
}

Expr map_function(const Expr& expr, const Type& type, const Parts& to) {
  const auto& node = cast<Function>(expr);
  std::vector<VariableRef> params;
  for (const VariableRef& param : node.params) params.push_back(to.variable(param));
  Type result = to.type(node.result);
  Expr body = to.expr(node.body);
  if (params == node.params && result == node.result && body == node.body && type == node.type)
    return expr;
  return make_function(std::move(params), std::move(result), std::move(body), node.type_params,
                       node.attrs, expr->span, type);
}

Expr map_match(const Expr& expr, const Type& type, const Parts& to) {
  const auto& node = cast<Match>(expr);
  Expr scrutinee = to.expr(node.scrutinee);
  bool is_same = scrutinee == node.scrutinee && type == node.type;
  std::vector<Clause> clauses;
  for (const Clause& clause : node.clauses) {
    clauses.push_back({map_pattern(clause.pattern, to), to.expr(clause.body)});
    is_same =
        is_same && clauses.back().pattern == clause.pattern && clauses.back().body == clause.body;
  }
  if (is_same) return expr;
  return make_match(std::move(scrutinee), std::move(clauses), node.is_complete, expr->span, type);
}

Expr map_scatter(const Expr& expr, const Type& type, const Parts& to) {
  const auto& node = cast<ScatterReduce>(expr);
  Expr init = to.expr(node.init);
  std::vector<IndexBinder> binders = map_binders(node.binders, to);
  std::vector<Expr> indices = map_all(node.indices, to);
  Expr value = to.expr(node.value);
  if (init == node.init && same(binders, node.binders) && indices == node.indices &&
      value == node.value && type == node.type) {
    return expr;
  }
  return make_scatter_reduce(node.op, std::move(init), std::move(binders), std::move(indices),
                             std::move(value), expr->span, type, node.algebra);
}

// The node with mapped parts; the node itself when no part changes.
Expr map_parts(const Expr& expr, const Parts& to) {
  const Type type = to.type(expr->type);
  const Span span = expr->span;
  switch (expr->kind) {
    case ExprKind::GlobalVar:
    case ExprKind::Constant:
    case ExprKind::Literal:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::DimTerm:
      return with_type(expr, type);
    case ExprKind::Var:
      return map_var(expr, type, to);
    case ExprKind::Function:
      return map_function(expr, type, to);
    case ExprKind::Match:
      return map_match(expr, type, to);
    case ExprKind::ScatterReduce:
      return map_scatter(expr, type, to);
    case ExprKind::Tuple: {
      const auto& node = cast<Tuple>(expr);
      std::vector<Expr> fields = map_all(node.fields, to);
      if (fields == node.fields && type == node.type) return expr;
      return make_tuple(std::move(fields), span, type);
    }
    case ExprKind::Projection: {
      const auto& node = cast<Projection>(expr);
      Expr tuple = to.expr(node.tuple);
      if (tuple == node.tuple && type == node.type) return expr;
      return make_projection(std::move(tuple), node.index, span, type);
    }
    case ExprKind::Let: {
      const auto& node = cast<Let>(expr);
      VariableRef variable = to.variable(node.variable);
      Expr value = to.expr(node.value);
      Expr body = to.expr(node.body);
      if (variable == node.variable && value == node.value && body == node.body &&
          type == node.type)
        return expr;
      return make_let(std::move(variable), std::move(value), std::move(body), span, type);
    }
    case ExprKind::If: {
      const auto& node = cast<If>(expr);
      Expr condition = to.expr(node.condition);
      Expr then_branch = to.expr(node.then_branch);
      Expr else_branch = to.expr(node.else_branch);
      if (condition == node.condition && then_branch == node.then_branch &&
          else_branch == node.else_branch && type == node.type) {
        return expr;
      }
      return make_if(std::move(condition), std::move(then_branch), std::move(else_branch), span,
                     type);
    }
    case ExprKind::Call: {
      const auto& node = cast<Call>(expr);
      std::vector<Expr> args = map_all(node.args, to);
      Expr callee = to.expr(node.callee);
      if (callee == node.callee && args == node.args && type == node.type) return expr;
      return make_call(std::move(callee), std::move(args), node.attrs, span, type, node.algebra);
    }
    case ExprKind::RefCreate: {
      const auto& node = cast<RefCreate>(expr);
      Expr value = to.expr(node.value);
      if (value == node.value && type == node.type) return expr;
      return make_ref_create(std::move(value), span, type);
    }
    case ExprKind::RefRead: {
      const auto& node = cast<RefRead>(expr);
      Expr ref = to.expr(node.ref);
      if (ref == node.ref && type == node.type) return expr;
      return make_ref_read(std::move(ref), span, type);
    }
    case ExprKind::RefWrite: {
      const auto& node = cast<RefWrite>(expr);
      Expr ref = to.expr(node.ref);
      Expr value = to.expr(node.value);
      if (ref == node.ref && value == node.value && type == node.type) return expr;
      return make_ref_write(std::move(ref), std::move(value), span, type);
    }
    case ExprKind::Comprehension: {
      const auto& node = cast<Comprehension>(expr);
      std::vector<IndexBinder> binders = map_binders(node.binders, to);
      Expr body = to.expr(node.body);
      if (same(binders, node.binders) && body == node.body && type == node.type) return expr;
      return make_comprehension(std::move(binders), std::move(body), span, type);
    }
    case ExprKind::Reduction: {
      const auto& node = cast<Reduction>(expr);
      std::vector<IndexBinder> binders = map_binders(node.binders, to);
      Expr body = to.expr(node.body);
      if (same(binders, node.binders) && body == node.body && type == node.type) return expr;
      return make_reduction(node.op, std::move(binders), std::move(body), span, type);
    }
    case ExprKind::Index: {
      const auto& node = cast<Index>(expr);
      Expr tensor = to.expr(node.tensor);
      std::vector<Expr> indices = map_all(node.indices, to);
      if (tensor == node.tensor && indices == node.indices && type == node.type) return expr;
      return make_index(std::move(tensor), std::move(indices), node.in_bounds, span, type);
    }
    case ExprKind::Primitive: {
      const auto& node = cast<Primitive>(expr);
      std::vector<Expr> args = map_all(node.args, to);
      if (args == node.args && type == node.type) return expr;
      return make_primitive(node.prim, std::move(args), span, type, node.algebra);
    }
    case ExprKind::Differentiate: {
      const auto& node = cast<Differentiate>(expr);
      Expr fn = to.expr(node.fn);
      if (fn == node.fn && type == node.type) return expr;
      return make_differentiate(node.mode, std::move(fn), span, type);
    }
  }
  internal_error(__FILE__, __LINE__, "an expression of an unknown kind");
}

class Substituter final : public Rewriter {
 public:
  explicit Substituter(const Substitution& substitution) : substitution_(substitution) {}

 protected:
  Expr pre(const Expr& expr) override {
    const auto* var = as<Var>(expr);
    if (!var) return nullptr;
    const auto found = substitution_.find(var->variable.get());
    return found == substitution_.end() ? nullptr : found->second;
  }

 private:
  const Substitution& substitution_;
};

class BoundRenamer final : public Rewriter {
 public:
  explicit BoundRenamer(const Expr& root) {
    visit_post_order(root, [this](const Expr& node) {
      for_each_binder(node, [this](const VariableRef& variable) { bound_.insert(variable.get()); });
    });
  }

 protected:
  VariableRef rewrite_variable(const VariableRef& variable) override {
    if (!bound_.contains(variable.get())) return variable;
    return make_variable(variable->name, variable->type, variable->span, variable->attrs);
  }

  // A node is evaluated once. What may have an effect has it in the copy too, and what may fail may
  // stand behind another test there; so it is another node, also where nothing is renamed in it.
  Expr post(const Expr& expr) override {
    switch (expr->kind) {
      case ExprKind::RefCreate:
        return make_ref_create(cast<RefCreate>(expr).value, expr->span, expr->type);
      case ExprKind::RefRead:
        return make_ref_read(cast<RefRead>(expr).ref, expr->span, expr->type);
      case ExprKind::RefWrite: {
        const auto& node = cast<RefWrite>(expr);
        return make_ref_write(node.ref, node.value, expr->span, expr->type);
      }
      case ExprKind::Call: {
        const auto& node = cast<Call>(expr);
        return is_total(node) ? expr
                              : make_call(node.callee, node.args, node.attrs, expr->span,
                                          expr->type, node.algebra);
      }
      case ExprKind::Primitive: {
        const auto& node = cast<Primitive>(expr);
        return divides(node.prim, node.args)
                   ? make_primitive(node.prim, node.args, expr->span, expr->type, node.algebra)
                   : expr;
      }
      case ExprKind::Index: {
        const auto& node = cast<Index>(expr);
        return node.in_bounds
                   ? expr
                   : make_index(node.tensor, node.indices, false, expr->span, expr->type);
      }
      default:
        return expr;
    }
  }

 private:
  // Does the call give a value, and nothing else?
  static bool is_total(const Call& call) {
    if (call.callee->kind == ExprKind::ConstructorRef) return true;
    const auto* callee = as<Operator>(call.callee);
    if (!callee || callee->op->effect != Effect::None) return false;
    const auto& primitive = callee->op->elementwise;
    return primitive ? !divides(*primitive, call.args) : callee->op->name == "dim_of";
  }
  // Where the type is not known yet, it may be one of integers.
  static bool divides(Prim prim, const std::vector<Expr>& args) {
    const auto* operand = as<TensorType>(args.back()->type);
    return !operand || !operand->dtype.is_known() || may_divide_by_zero(prim, args);
  }
  PointerSet<Variable> bound_;
};

class TypeSubstituter final : public Rewriter {
 public:
  explicit TypeSubstituter(const TypeSubstitution& substitution) : substitution_(substitution) {}

 protected:
  Type rewrite_type(const Type& type) override {
    auto [entry, is_new] = types_.try_emplace(type, nullptr);
    if (is_new) entry->second = substitute(type, substitution_);
    return entry->second;
  }

  Expr post(const Expr& expr) override {
    if (const auto* term = as<DimTerm>(expr)) {
      const Dim dim = substitute(term->dim, substitution_);
      if (dim == term->dim) return expr;
      if (dim.is_constant()) {
        const auto bits = static_cast<std::uint64_t>(dim.constant());
        return make_constant(Tensor::scalar(DType::Int64, bits), expr->span);
      }
      return make_dim_term(dim, expr->span);
    }
    const auto* function = as<Function>(expr);
    if (!function || function->type_params.empty()) return expr;
    std::vector<TypeVarRef> left;
    for (const TypeVarRef& var : function->type_params) {
      if (!is_replaced(var.get())) left.push_back(var);
    }
    if (left.size() == function->type_params.size()) return expr;
    return make_function(function->params, function->result, function->body, std::move(left),
                         function->attrs, expr->span, function->type);
  }

 private:
  bool is_replaced(const TypeVar* var) const {
    return substitution_.types.contains(var) || substitution_.shapes.contains(var) ||
           substitution_.dtypes.contains(var) || substitution_.dims.contains(var);
  }
  const TypeSubstitution& substitution_;
  std::unordered_map<Type, Type> types_;  // by identity
};

}  // namespace

VariableRef Rewriter::rewrite_variable(const VariableRef& variable) {
  if (!variable->type) return variable;
  Type type = rewrite_type(variable->type);
  if (type == variable->type) return variable;
  return make_variable(variable->name, std::move(type), variable->span, variable->attrs);
}

// The memo knows nodes by address, so whatever is rewritten is kept alive as long as the memo is. A
// node with one owner is reached once, and what becomes of it goes to that owner.
Expr Rewriter::rewrite(const Expr& given) {
  if (const Expr* known = memo_.find(given.get())) return *known;
  keep_alive_.push_back(given);
  const Expr root = given;
  struct Item {
    const Expr* expr;   // held by its parent
    bool is_open;       // its children have been pushed
    std::size_t first;  // then: where the results of its children begin
  };
  std::vector<Item> stack{{&root, false, 0}};
  std::vector<Expr> results;
  std::size_t next = 0;
  const Parts parts{[&](const Expr&) { return std::move(results[next++]); },
                    [this](const VariableRef& variable) { return replaced(variable); },
                    [this](const Type& type) { return type ? rewrite_type(type) : type; }};
  const auto finish = [&](const Expr& expr, Expr result) {
    if (!expr->is_unique()) memo_[expr.get()] = result;
    results.push_back(std::move(result));
  };
  while (!stack.empty()) {
    const Expr& expr = *stack.back().expr;
    if (stack.back().is_open) {
      const std::size_t first = next = stack.back().first;
      stack.pop_back();
      poll();
      Expr rebuilt = map_parts(expr, parts);
      results.resize(first);
      finish(expr, post(rebuilt));
      continue;
    }
    const Expr* known = expr->is_unique() ? nullptr : memo_.find(expr.get());
    if (known) {
      stack.pop_back();
      results.push_back(*known);
      continue;
    }
    if (Expr replacement = pre(expr)) {
      stack.pop_back();
      finish(expr, std::move(replacement));
      continue;
    }
    stack.back().is_open = true;
    stack.back().first = results.size();
    const std::size_t first = stack.size();
    for_each_child(expr, [&](const Expr& child) { stack.push_back({&child, false, 0}); });
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  }
  return std::move(results.back());
}

VariableRef Rewriter::replaced(const VariableRef& variable) {
  if (const VariableRef* known = variables_.find(variable.get())) return *known;
  VariableRef result = rewrite_variable(variable);
  if (!(result == variable)) {
    keep_alive_variables_.push_back(variable);
    variables_.insert(variable.get(), result);
  }
  return result;
}

Expr substitute(const Expr& expr, const Substitution& substitution) {
  if (substitution.empty()) return expr;
  bool mentions = false;
  visit_post_order(expr, [&](const Expr& node) {
    const auto* var = mentions ? nullptr : as<Var>(node);
    mentions = mentions || (var && substitution.contains(var->variable.get()));
  });
  return mentions ? Substituter(substitution).rewrite(expr) : expr;
}

Expr rename_bound(const Expr& expr) { return BoundRenamer(expr).rewrite(expr); }

Expr substitute_types(const Expr& expr, const TypeSubstitution& substitution) {
  return substitution.empty() ? expr : TypeSubstituter(substitution).rewrite(expr);
}

}  // namespace relay::lang
