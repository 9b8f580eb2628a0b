#include "index/scalar_form.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "index/binder_use.h"
#include "index/conditions.h"
#include "index/linear_index.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Prim;
namespace build = lang::build;

namespace {

// The extents of index notation's binders, where the primal has run: then an index need not be
// looked at in every branch.
class BinderExtents {
 public:
  BinderExtents(const Expr& form, PrimalCode primal) : has_run_(primal == PrimalCode::HasRun) {
    if (!has_run_) return;
    lang::visit_post_order(form, [&](const Expr& node) {
      const auto* binders = binders_of(node);
      if (!binders) return;
      for (const lang::IndexBinder& binder : *binders)
        extents_.emplace(binder.variable.get(), binder.extent);
    });
  }

  // Does the index stay on an axis of that extent, as the binder of all of it does?
  bool stays_within(const Expr& index, const lang::Dim& dim) const {
    if (!has_run_) return false;
    if (const auto number = number_in(index))
      return *number >= 0 && dim.is_constant() && *number < dim.constant();
    const auto* var = as<lang::Var>(index);
    const auto found = var ? extents_.find(var->variable.get()) : extents_.end();
    if (found == extents_.end()) return false;
    if (const auto* term = as<lang::DimTerm>(found->second)) return term->dim == dim;
    const auto extent = number_in(found->second);
    return extent && dim.is_constant() && *extent <= dim.constant();
  }

  // Is it a name from outside, or a little arithmetic of such?
  bool is_same_at_all_points(const Expr& index, int budget = 3) const {
    if (!has_run_) return false;
    if (const auto* var = as<lang::Var>(index)) return !extents_.contains(var->variable.get());
    if (index->kind == ExprKind::Constant || index->kind == ExprKind::DimTerm) return true;
    const auto step = lang::arithmetic_step(index);
    if (!step || budget == 0) return false;
    const bool may_divide = lang::may_divide_by_zero(step->prim, step->args);
    return !may_divide && std::all_of(step->args.begin(), step->args.end(), [&](const Expr& arg) {
      return is_same_at_all_points(arg, budget - 1);
    });
  }

 private:
  const bool has_run_;
  std::unordered_map<const lang::Variable*, Expr> extents_;
};

// What may fail, made harmless where `condition` does not hold.
class Guard final : public lang::Rewriter {
 public:
  Guard(Expr condition, const BinderExtents& extents)
      : condition_(std::move(condition)), extents_(extents) {}

 protected:
  Expr post(const Expr& expr) override {
    if (const auto* index = as<lang::Index>(expr); index && !index->in_bounds) {
      if (has_no_elements(index->tensor->type)) return build::zeros_of(expr->type);
      const auto* tensor = as<lang::TensorType>(index->tensor->type);
      std::vector<Expr> indices;
      bool is_harmless = true;  // everywhere
      for (std::size_t axis = 0; axis < index->indices.size(); ++axis) {
        const Expr& each = index->indices[axis];
        const bool has_extent = tensor && tensor->shape.has_rank() && !tensor->shape[axis].is_any();
        if (has_extent && extents_.stays_within(each, tensor->shape[axis])) {
          indices.push_back(each);
        } else if (has_extent && extents_.is_same_at_all_points(each)) {
          const Expr place = build::cast_to(lang::DType::Int64, each);
          const Expr is_there = is_between(place, extent_of_axis(tensor->shape[axis]));
          indices.push_back(build::select(is_there, place, build::index_constant(0)));
        } else {
          indices.push_back(guarded(each, 0));
          is_harmless = false;
        }
      }
      return lang::make_index(index->tensor, std::move(indices), is_harmless, expr->span,
                              expr->type);
    }
    const auto* node = as<lang::Primitive>(expr);
    const bool divides = node && (node->prim == Prim::Div || node->prim == Prim::FloorDiv ||
                                  node->prim == Prim::Mod || node->prim == Prim::FloorMod);
    if (!divides || lang::is_float(as<lang::TensorType>(expr->type)->dtype.known())) return expr;
    return lang::make_primitive(node->prim, {node->args[0], guarded(node->args[1], 1)}, expr->span,
                                expr->type, node->algebra);
  }

 private:
  Expr guarded(const Expr& value, std::int64_t otherwise) const {
    const auto dtype = as<lang::TensorType>(value->type)->dtype.known();
    return build::select(condition_, value, build::constant_int(dtype, otherwise));
  }
  const Expr condition_;
  const BinderExtents& extents_;
};

bool are_scalars(const std::vector<Expr>& exprs) {
  return std::all_of(exprs.begin(), exprs.end(),
                     [](const Expr& expr) { return lang::is_scalar(expr->type); });
}

// Is it made of elements of variables, one by one?
bool reads_elements(const Expr& form) {
  bool found = true;
  lang::visit_post_order(form, [&](const Expr& node) {
    const auto* index = as<lang::Index>(node);
    found = found && (lang::is_scalar(node->type) || node->kind == ExprKind::Var) &&
            node->kind != ExprKind::Reduction && (!index || as<lang::Var>(index->tensor));
  });
  return found;
}

// Of an operator on scalars: does it divide whole numbers?
bool may_divide(const lang::OpDef& op, const Expr& call) {
  if (!lang::is_int(as<lang::TensorType>(call->type)->dtype.known())) return false;
  const auto& node = lang::cast<lang::Call>(call);
  if (!are_scalars(node.args)) return false;
  std::vector<Expr> args;  // what they are made of is another question
  for (const Expr& arg : node.args)
    args.push_back(build::is_atom(arg) ? arg : lang::make_var(lang::make_variable("x", arg->type)));
  const auto defined = lang::definition_at(op, {args, node.attrs, call->type}, node.algebra);
  bool found = false;
  if (!defined) return found;
  lang::visit_post_order(*defined, [&](const Expr& part) {
    const auto* step = as<lang::Primitive>(part);
    found = found || (step && lang::may_divide_by_zero(step->prim, step->args));
  });
  return found;
}

class ScalarForm final : public lang::Rewriter {
 public:
  explicit ScalarForm(const BinderExtents& extents) : extents_(extents) {}

 protected:
  Expr post(const Expr& expr) override {
    if (const auto* let = as<lang::Let>(expr))
      return lang::substitute(let->body, {{let->variable.get(), let->value}});
    if (const auto* branch = as<lang::If>(expr); branch && lang::is_scalar(expr->type)) {
      const Expr& condition = branch->condition;
      const Expr otherwise = build::prim(Prim::Not, {condition});
      return build::select(condition, Guard(condition, extents_).rewrite(branch->then_branch),
                           Guard(otherwise, extents_).rewrite(branch->else_branch));
    }
    const auto* call = as<lang::Call>(expr);
    const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
    if (!op || !op->op->definition || !lang::is_scalar(expr->type)) return expr;
    const bool stays = !op->op->differentiable || (op->op->gradient && are_scalars(call->args));
    // A division of whole numbers is guarded as what it is.
    if (stays && !may_divide(*op->op, expr)) return expr;
    const auto defined =
        lang::definition_at(*op->op, {call->args, call->attrs, expr->type}, call->algebra);
    if (!defined) return expr;
    const Expr expanded = ScalarForm(extents_).rewrite(*defined);
    // A gradient of tensors would be one of all elements; one that is read has no need of it.
    return op->op->gradient && !stays && !reads_elements(expanded) ? expr : expanded;
  }

 private:
  const BinderExtents& extents_;
};

bool is_arithmetic_node(const Expr& expr, const Expr& root) {
  switch (expr->kind) {
    case ExprKind::Var:
    case ExprKind::Constant:
    case ExprKind::GlobalVar:
    case ExprKind::DimTerm:
    case ExprKind::Operator:
      return true;
    case ExprKind::Primitive:
      return are_scalars(lang::cast<lang::Primitive>(expr).args);
    case ExprKind::Index: {
      const ExprKind tensor = lang::cast<lang::Index>(expr).tensor->kind;
      return (lang::is_scalar(expr->type) || expr == root) &&
             (tensor == ExprKind::Var || tensor == ExprKind::Constant ||
              tensor == ExprKind::GlobalVar);
    }
    case ExprKind::Call: {
      const auto& call = lang::cast<lang::Call>(expr);
      const auto* op = as<lang::Operator>(call.callee);
      return op && op->op->definition && op->op->effect == lang::Effect::None &&
             lang::is_scalar(expr->type) && are_scalars(call.args);
    }
    case ExprKind::Reduction:
      return lang::is_scalar(lang::cast<lang::Reduction>(expr).body->type);
    case ExprKind::Comprehension:
      return expr == root;
    case ExprKind::ScatterReduce:
      return expr == root && build::is_atom(lang::cast<lang::ScatterReduce>(expr).init);
    default:
      return false;
  }
}

// One nest of loops goes as far at every point of it: `sum k < i` inside `for i` is no part of it.
bool has_fixed_extents(const Expr& form) {
  std::unordered_set<const lang::Variable*> indices;
  std::vector<Expr> extents;
  lang::visit_post_order(form, [&](const Expr& node) {
    const auto* binders = binders_of(node);
    if (!binders) return;
    for (const lang::IndexBinder& binder : *binders) {
      indices.insert(binder.variable.get());
      if (binder.extent->kind != ExprKind::Constant) extents.push_back(binder.extent);
    }
  });
  return std::none_of(extents.begin(), extents.end(), [&](const Expr& extent) {
    const auto free = lang::free_variables(extent);
    return std::any_of(free.begin(), free.end(), [&](const lang::VariableRef& variable) {
      return indices.count(variable.get()) > 0;
    });
  });
}

}  // namespace

bool has_no_elements(const lang::Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return false;
  const auto& dims = tensor->shape.dims();
  return std::any_of(dims.begin(), dims.end(),
                     [](const lang::Dim& dim) { return dim.is_constant(0); });
}

Expr scalar_form(const Expr& expr, PrimalCode primal) {
  const BinderExtents extents(expr, primal);
  return ScalarForm(extents).rewrite(expr);
}

bool is_arithmetic(const Expr& form) {
  std::vector<Expr> roots = {form};
  if (const auto* comprehension = as<lang::Comprehension>(form)) {
    const auto* tuple = as<lang::Tuple>(comprehension->body);
    roots = tuple ? tuple->fields : std::vector{comprehension->body};
    if (!are_scalars(roots)) return false;
  }
  bool found = true;
  for (const Expr& root : roots) {
    lang::visit_post_order(
        root, [&](const Expr& node) { found = found && is_arithmetic_node(node, form); });
  }
  return found && has_fixed_extents(form);
}

}  // namespace relay::index
