#include "lang/lowerable.h"

#include <algorithm>

#include "lang/op.h"
#include "lang/visit.h"

namespace relay::lang {

namespace {

bool is_tensor_data(const Type& type) {
  if (const auto* tuple = as<TupleType>(type)) {
    return !tuple->fields.empty() &&
           std::all_of(tuple->fields.begin(), tuple->fields.end(), is_tensor_data);
  }
  const auto* tensor = as<TensorType>(type);
  return tensor && tensor->shape.has_rank() && tensor->dtype.is_known();
}

bool is_defined_operator_call(const Call& call) {
  const auto* op = as<Operator>(call.callee);
  if (!op || op->op->effect != Effect::None) return false;
  return op->op->definition || !op->op->static_form.empty() ||
         op->op->primitive != TensorPrimitive::None;
}

// May be computed even where its value is not used: no bounds check, no integer division.
bool is_total(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Index: {
      const auto& index = cast<Index>(expr);
      return index.in_bounds && std::all_of(index.indices.begin(), index.indices.end(), is_total);
    }
    case ExprKind::Primitive: {
      const auto& node = cast<Primitive>(expr);
      const bool divides = node.prim == Prim::Div || node.prim == Prim::Mod ||
                           node.prim == Prim::FloorDiv || node.prim == Prim::FloorMod;
      const auto* tensor = as<TensorType>(node.type);
      if (divides && tensor && !is_float(tensor->dtype.known())) return false;
      return std::all_of(node.args.begin(), node.args.end(), is_total);
    }
    case ExprKind::Call: {
      const auto& call = cast<Call>(expr);
      const auto* op = as<Operator>(call.callee);
      const auto* tensor = as<TensorType>(expr->type);
      // Division operators on integers check their divisor; every other scalar operator is total.
      const bool may_divide = op && tensor && !is_float(tensor->dtype.known()) &&
                              tensor->dtype.known() != DType::Bool && call.args.size() == 2;
      return !may_divide && std::all_of(call.args.begin(), call.args.end(), is_total);
    }
    case ExprKind::Let:
      return is_total(cast<Let>(expr).value) && is_total(cast<Let>(expr).body);
    case ExprKind::If:
      return is_total(cast<If>(expr).condition) && is_total(cast<If>(expr).then_branch) &&
             is_total(cast<If>(expr).else_branch);
    case ExprKind::Reduction:
      return is_total(cast<Reduction>(expr).body);
    default:
      return true;
  }
}

bool is_kernel_body(const Expr& expr);

bool all_kernel_bodies(const std::vector<Expr>& exprs) {
  return std::all_of(exprs.begin(), exprs.end(), is_kernel_body);
}

bool are_plain(const std::vector<IndexBinder>& binders) {
  return std::all_of(binders.begin(), binders.end(), [](const IndexBinder& binder) {
    return binder.extent &&
           (binder.extent->kind == ExprKind::Constant || binder.extent->kind == ExprKind::Var ||
            binder.extent->kind == ExprKind::DimTerm);
  });
}

// Scalar code inside index notation.
bool is_kernel_body(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Var:
    case ExprKind::Constant:
      return is_scalar(expr->type);
    case ExprKind::DimTerm:
      return true;
    case ExprKind::Primitive:
      return all_kernel_bodies(cast<Primitive>(expr).args);
    case ExprKind::Index: {
      const auto& index = cast<Index>(expr);
      return is_scalar(expr->type) && index.tensor->kind == ExprKind::Var &&
             all_kernel_bodies(index.indices);
    }
    case ExprKind::Call: {
      const auto& call = cast<Call>(expr);
      return is_scalar(expr->type) && is_defined_operator_call(call) &&
             all_kernel_bodies(call.args);
    }
    case ExprKind::Let:
      return is_kernel_body(cast<Let>(expr).value) && is_kernel_body(cast<Let>(expr).body);
    case ExprKind::If: {
      const auto& branch = cast<If>(expr);
      return is_scalar(expr->type) && is_kernel_body(branch.condition) &&
             is_kernel_body(branch.then_branch) && is_kernel_body(branch.else_branch) &&
             is_total(branch.then_branch) && is_total(branch.else_branch);
    }
    case ExprKind::Reduction:
      return are_plain(cast<Reduction>(expr).binders) && is_kernel_body(cast<Reduction>(expr).body);
    default:
      return false;
  }
}

}  // namespace

bool is_lowerable(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::Call: {
      const auto& call = cast<Call>(expr);
      return is_defined_operator_call(call) && is_tensor_data(expr->type) &&
             std::all_of(call.args.begin(), call.args.end(),
                         [](const Expr& arg) { return is_tensor_data(arg->type); });
    }
    case ExprKind::Comprehension: {
      const auto& node = cast<Comprehension>(expr);
      if (!are_plain(node.binders)) return false;
      if (const auto* tuple = as<Tuple>(node.body))
        return !tuple->fields.empty() && all_kernel_bodies(tuple->fields);
      return is_kernel_body(node.body);
    }
    case ExprKind::Reduction:
      return is_kernel_body(expr);
    case ExprKind::ScatterReduce: {
      const auto& node = cast<ScatterReduce>(expr);
      return node.init->kind == ExprKind::Var && are_plain(node.binders) &&
             all_kernel_bodies(node.indices) && is_kernel_body(node.value);
    }
    default:
      return false;
  }
}

std::vector<VariableRef> shaping_variables(const Expr& expr) {
  std::vector<VariableRef> variables;
  const auto note = [&](const Expr& value) {
    if (const auto* var = as<Var>(value)) variables.push_back(var->variable);
  };
  const auto note_all = [&](const std::vector<IndexBinder>& binders) {
    for (const IndexBinder& binder : binders) note(binder.extent);
  };
  visit_post_order(expr, [&](const Expr& node) {
    if (const auto* c = as<Comprehension>(node)) note_all(c->binders);
    if (const auto* r = as<Reduction>(node)) note_all(r->binders);
    if (const auto* s = as<ScatterReduce>(node)) note_all(s->binders);
    const auto* call = as<Call>(node);
    const auto* op = call ? as<Operator>(call->callee) : nullptr;
    if (!op || op->op->static_form.empty()) return;
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      if (!op->op->inputs[i].attr.empty()) note(call->args[i]);
    }
  });
  return variables;
}

}  // namespace relay::lang
