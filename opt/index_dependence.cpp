#include "opt/index_dependence.h"

#include <algorithm>

#include "lang/any_dim.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/record.h"
#include "lang/stop.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::as;
using lang::cast;
using lang::Expr;
using lang::ExprKind;
using lang::ExprNode;
using lang::VariableRef;

bool is_nameless(const Expr& expr) {
  const auto* constant = as<lang::Constant>(expr);
  const bool is_tensor = constant && constant->value->rank() > 0;
  return (lang::build::is_atom(expr) && !is_tensor) ||
         (expr->kind == ExprKind::Tuple && cast<lang::Tuple>(expr).fields.empty());
}

std::vector<Expr> repeated_parts(const Expr& expr) {
  if (const auto* c = as<lang::Comprehension>(expr)) return {c->body};
  if (const auto* r = as<lang::Reduction>(expr)) return {r->body};
  const auto& s = cast<lang::ScatterReduce>(expr);
  std::vector<Expr> parts = s.indices;
  parts.push_back(s.value);
  return parts;
}

bool has_zeros(const lang::Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), has_zeros);
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && tensor->shape.has_rank() && tensor->dtype.is_known();
}

bool may_be_guarded(const Expr& expr) {
  // The extents of a row are known where it is, and it costs nothing there.
  const bool is_row_of_any_extent = expr->kind == ExprKind::Index && lang::has_any_dim(expr->type);
  return has_zeros(expr->type) && !is_row_of_any_extent;
}

namespace {

// Takes a field out of what has a name: it costs nothing, and always gives a value.
bool is_access(const Expr& expr) {
  const Expr* at = &expr;
  while (true) {
    const auto* projection = as<lang::Projection>(*at);
    const auto* match = as<lang::Match>(*at);
    if (projection) {
      at = &projection->tuple;
    } else if (match && match->is_complete && lang::as_field_read(*match)) {
      at = &match->scrutinee;
    } else {
      return *at != expr && lang::build::is_atom(*at);
    }
  }
}

bool is_whole_tensor(const Expr& expr) {
  return as<lang::TensorType>(expr->type) && !lang::is_scalar(expr->type);
}

bool is_work_on_tensors(const Expr& expr) {
  if (expr->kind == ExprKind::Comprehension || expr->kind == ExprKind::Reduction) return true;
  const auto* call = as<lang::Call>(expr);
  return call && call->callee->kind == ExprKind::Operator &&
         (is_whole_tensor(expr) ||
          std::any_of(call->args.begin(), call->args.end(), is_whole_tensor));
}

}  // namespace

bool IndexDependence::is_speculative(const Expr& expr) {
  return is_access(expr) ||
         (is_work_on_tensors(expr) && !effects_.is_bound_to_place(expr) && !totals_.may_fail(expr));
}

bool IndexDependence::is_known_outside(const ExprNode* nest, const Expr& expr) const {
  const auto& inside = known_.at(nest).inside;
  const auto free = lang::free_variables(expr);
  return std::none_of(free.begin(), free.end(),
                      [&](const VariableRef& variable) { return inside.contains(variable.get()); });
}

void IndexDependence::look_at(const Expr& expr) {
  const auto* binders = binders_of(expr.get());
  if (!binders) return;
  Nest& nest = known_[expr.get()];
  for (const auto& binder : *binders) {
    nest.bound.insert(binder.variable.get());
    nest.inside.insert(binder.variable.get());
  }
  for (const Expr& part : repeated_parts(expr)) walk(part, nest, {});
  nest.seen.clear();
}

void IndexDependence::walk(const Expr& root, Nest& nest, Way way) {
  lang::poll();
  const Expr* at = &root;
  bool is_whole = true;  // does all of a chain of bindings leave?
  for (; const auto* let = as<lang::Let>(*at); at = &let->body) {
    if (!nest.seen.insert(at->get()).second) return;
    nest.nodes.insert(at->get());  // bindings stay in their order
    const lang::Variable* variable = let->variable.get();
    // A function may call itself by this name.
    if (let->value->kind == ExprKind::Function) nest.bound.insert(variable);
    walk(let->value, nest, way);
    if (may_leave(let->value, nest, way)) {
      nest.bound.erase(variable);  // it does not call itself
      continue;
    }
    is_whole = false;
    nest.bound.insert(variable);
    nest.inside.insert(variable);
  }
  const Expr& expr = *at;
  if (!nest.seen.insert(expr.get()).second) return;
  walk_children(expr, nest, way);
  const auto* var = as<lang::Var>(expr);
  bool depends = var && nest.bound.contains(var->variable.get());
  lang::for_each_child(
      expr, [&](const Expr& child) { depends = depends || nest.nodes.contains(child.get()); });
  if (depends) nest.nodes.insert(expr.get());
  if (depends || !is_whole) return;
  for (at = &root; *at != expr; at = &cast<lang::Let>(*at).body) nest.nodes.erase(at->get());
}

void IndexDependence::walk_children(const Expr& expr, Nest& nest, Way way) {
  lang::for_each_binder(expr,
                        [&](const VariableRef& variable) { nest.inside.insert(variable.get()); });
  switch (expr->kind) {
    case ExprKind::If: {
      const auto& branch = cast<lang::If>(expr);
      walk(branch.condition, nest, way);
      way.in_branch = true;
      walk(branch.then_branch, nest, way);
      walk(branch.else_branch, nest, way);
      return;
    }
    case ExprKind::Match: {
      const auto& match = cast<lang::Match>(expr);
      walk(match.scrutinee, nest, way);
      const bool depends = nest.nodes.contains(match.scrutinee.get());
      way.in_branch = true;
      for (const lang::Clause& clause : match.clauses) {
        lang::for_each_variable(clause.pattern, [&](const VariableRef& variable) {
          if (depends) nest.bound.insert(variable.get());
        });
        walk(clause.body, nest, way);
      }
      return;
    }
    case ExprKind::Function:
      way.in_function = true;
      break;
    case ExprKind::Comprehension:
    case ExprKind::Reduction:
    case ExprKind::ScatterReduce:
      way.in_nest = true;
      break;
    default:
      break;
  }
  lang::for_each_child(expr, [&](const Expr& child) { walk(child, nest, way); });
}

// Does the value of a `let` leave the body, so that what uses it may, too?
bool IndexDependence::may_leave(const Expr& value, const Nest& nest, Way way) {
  if (way.in_function || nest.nodes.contains(value.get())) return false;
  if (way.in_branch) {
    const auto free = lang::free_variables(value);
    const bool is_known = std::none_of(free.begin(), free.end(), [&](const VariableRef& variable) {
      return nest.inside.contains(variable.get());
    });
    return is_known && (is_nameless(value) || is_speculative(value));
  }
  if (is_nameless(value)) return true;
  if (effects_.is_bound_to_place(value)) return false;
  return !failures_.may_fail(value) || (!way.in_nest && may_be_guarded(value));
}

}  // namespace relay::opt
