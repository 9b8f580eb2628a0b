#include "lang/visit.h"

#include <algorithm>

#include "lang/stop.h"

namespace relay::lang {
namespace {

template <class Visit>
void each(const std::vector<Expr>& exprs, const Visit& visit) {
  for (const Expr& expr : exprs) visit(expr);
}

template <class Visit>
void each_extent(const std::vector<IndexBinder>& binders, const Visit& visit) {
  for (const IndexBinder& binder : binders) {
    if (binder.extent) visit(binder.extent);
  }
}

template <class Visit>
void each_index_variable(const std::vector<IndexBinder>& binders, const Visit& visit) {
  for (const IndexBinder& binder : binders) visit(binder.variable);
}

template <class Visit>
void children_of(const Expr& expr, const Visit& visit) {
  switch (expr->kind) {
    case ExprKind::Var:
    case ExprKind::GlobalVar:
    case ExprKind::Constant:
    case ExprKind::Literal:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::DimTerm:
      return;
    case ExprKind::Tuple:
      return each(cast<Tuple>(expr).fields, visit);
    case ExprKind::Projection:
      return visit(cast<Projection>(expr).tuple);
    case ExprKind::Let:
      visit(cast<Let>(expr).value);
      return visit(cast<Let>(expr).body);
    case ExprKind::If:
      visit(cast<If>(expr).condition);
      visit(cast<If>(expr).then_branch);
      return visit(cast<If>(expr).else_branch);
    case ExprKind::Function:
      return visit(cast<Function>(expr).body);
    case ExprKind::Call:
      each(cast<Call>(expr).args, visit);
      return visit(cast<Call>(expr).callee);
    case ExprKind::Match:
      visit(cast<Match>(expr).scrutinee);
      for (const Clause& clause : cast<Match>(expr).clauses) visit(clause.body);
      return;
    case ExprKind::RefCreate:
      return visit(cast<RefCreate>(expr).value);
    case ExprKind::RefRead:
      return visit(cast<RefRead>(expr).ref);
    case ExprKind::RefWrite:
      visit(cast<RefWrite>(expr).ref);
      return visit(cast<RefWrite>(expr).value);
    case ExprKind::Comprehension:
      each_extent(cast<Comprehension>(expr).binders, visit);
      return visit(cast<Comprehension>(expr).body);
    case ExprKind::Reduction:
      each_extent(cast<Reduction>(expr).binders, visit);
      return visit(cast<Reduction>(expr).body);
    case ExprKind::Index:
      visit(cast<Index>(expr).tensor);
      return each(cast<Index>(expr).indices, visit);
    case ExprKind::ScatterReduce:
      visit(cast<ScatterReduce>(expr).init);
      each_extent(cast<ScatterReduce>(expr).binders, visit);
      each(cast<ScatterReduce>(expr).indices, visit);
      return visit(cast<ScatterReduce>(expr).value);
    case ExprKind::Primitive:
      return each(cast<Primitive>(expr).args, visit);
    case ExprKind::Differentiate:
      return visit(cast<Differentiate>(expr).fn);
  }
}

}  // namespace

void for_each_child(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  children_of(expr, visit);
}

void for_each_variable(const PatternRef& pattern,
                       const std::function<void(const VariableRef&)>& visit) {
  if (pattern->variable) visit(pattern->variable);
  for (const PatternRef& field : pattern->fields) for_each_variable(field, visit);
}

void for_each_binder(const Expr& expr, const std::function<void(const VariableRef&)>& visit) {
  switch (expr->kind) {
    case ExprKind::Let:
      return visit(cast<Let>(expr).variable);
    case ExprKind::Function:
      for (const VariableRef& param : cast<Function>(expr).params) visit(param);
      return;
    case ExprKind::Match:
      for (const Clause& clause : cast<Match>(expr).clauses)
        for_each_variable(clause.pattern, visit);
      return;
    case ExprKind::Comprehension:
      return each_index_variable(cast<Comprehension>(expr).binders, visit);
    case ExprKind::Reduction:
      return each_index_variable(cast<Reduction>(expr).binders, visit);
    case ExprKind::ScatterReduce:
      return each_index_variable(cast<ScatterReduce>(expr).binders, visit);
    default:
      return;
  }
}

bool is_leaf(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Var:
    case ExprKind::GlobalVar:
    case ExprKind::Constant:
    case ExprKind::Literal:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef:
    case ExprKind::DimTerm:
      return true;
    default:
      return false;
  }
}

// With a stack of its own. A node may be pushed several times before it is first reached; the first
// time counts. A node with one owner has one way to it and need not be remembered.
void visit_post_order(const Expr& root, const std::function<void(const Expr&)>& visit) {
  struct Item {
    const Expr* expr;  // held by its parent, or by the caller
    bool is_open;      // its children have been pushed
  };
  PointerSet<ExprNode> seen;
  std::vector<Item> stack;
  stack.reserve(16);
  stack.push_back({&root, false});
  while (!stack.empty()) {
    const Expr& expr = *stack.back().expr;
    if (stack.back().is_open) {
      stack.pop_back();
      poll();
      visit(expr);
      continue;
    }
    if (!expr->is_unique() && !seen.insert(expr.get())) {
      stack.pop_back();
      continue;
    }
    stack.back().is_open = true;
    const std::size_t first = stack.size();
    children_of(expr, [&](const Expr& child) {
      if (child->is_unique() || !seen.contains(child.get())) stack.push_back({&child, false});
    });
    std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  }
}

namespace {

// Are there only names and constants below the node, and few of them?
bool is_flat(const Expr& expr) {
  constexpr int kFew = 8;
  bool has_deep = false;
  int count = 0;
  children_of(expr, [&](const Expr& child) {
    ++count;
    children_of(child, [&](const Expr&) { has_deep = true; });
  });
  return !has_deep && count <= kFew;
}

// Those of a flat node that binds nothing: most nodes of a normalised program.
std::vector<VariableRef> variables_of_flat(const Expr& expr) {
  std::vector<VariableRef> used;
  const auto use = [&](const Expr& node) {
    const auto* var = as<Var>(node);
    if (var && std::find(used.begin(), used.end(), var->variable) == used.end())
      used.push_back(var->variable);
  };
  use(expr);
  children_of(expr, use);
  return used;
}

}  // namespace

std::vector<VariableRef> free_variables(const Expr& expr) {
  bool binds = false;
  for_each_binder(expr, [&](const VariableRef&) { binds = true; });
  if (!binds && is_flat(expr)) return variables_of_flat(expr);
  std::vector<VariableRef> used;
  PointerSet<Variable> seen;
  PointerSet<Variable> bound;
  visit_post_order(expr, [&](const Expr& node) {
    if (const auto* var = as<Var>(node)) {
      if (seen.insert(var->variable.get())) used.push_back(var->variable);
    } else {
      for_each_binder(node, [&](const VariableRef& variable) { bound.insert(variable.get()); });
    }
  });
  std::erase_if(used, [&](const VariableRef& variable) { return bound.contains(variable.get()); });
  return used;
}

}  // namespace relay::lang
