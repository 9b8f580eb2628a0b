#include <cmath>

#include "lang/build.h"
#include "lang/visit.h"
#include "opt/definitions.h"

// Index notation: the algebra of operators on the primitives of its bodies, and loops that only
// copy.

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Prim;
namespace build = lang::build;

namespace {

std::optional<double> number(const Expr& expr) {
  const auto* constant = as<lang::Constant>(expr);
  if (!constant || constant->value->rank() != 0) return std::nullopt;
  return constant->value->number_at(0);
}

bool is(const Expr& expr, double value) {
  const auto found = number(expr);
  return found && *found == value;
}

const lang::Primitive* as_prim(const Expr& expr, Prim prim) {
  const auto* node = as<lang::Primitive>(expr);
  return node && node->prim == prim ? node : nullptr;
}

bool is_float(const Expr& expr) {
  const auto* tensor = as<lang::TensorType>(expr->type);
  return tensor && tensor->dtype.is_known() && lang::is_float(tensor->dtype.known());
}

Expr negated(Expr x) { return build::prim(Prim::Neg, {std::move(x)}); }

Expr simplified_primitive(const lang::Primitive& node) {
  const auto& args = node.args;
  if (!is_float(args[0]) && node.prim != Prim::Select) return nullptr;
  // As of operators (opt/simplify_arithmetic.cpp).
  const auto leaves_sums = [&](const Expr& x, bool is_added) {
    const auto value = number(x);
    return value && *value == 0 && (!node.span || std::signbit(*value) == is_added);
  };
  switch (node.prim) {
    case Prim::Add:
      if (leaves_sums(args[1], true)) return args[0];
      if (leaves_sums(args[0], true)) return args[1];
      if (const auto* inner = as_prim(args[1], Prim::Neg))
        return build::sub(args[0], inner->args[0]);
      if (same_atom(args[0], args[1]))
        return build::mul(build::constant(dtype_of(args[0]), 2), args[0]);
      return folded("add", args[0], args[1]);
    case Prim::Sub:
      if (leaves_sums(args[1], false)) return args[0];
      if (const auto* inner = as_prim(args[1], Prim::Neg))
        return build::add(args[0], inner->args[0]);
      return folded("subtract", args[0], args[1]);
    case Prim::Mul: {
      if (is(args[1], 1)) return args[0];
      if (is(args[0], 1)) return args[1];
      if (is(args[0], -1)) return negated(args[1]);
      if (is(args[1], -1)) return negated(args[0]);
      const auto* left = as_prim(args[0], Prim::Neg);
      const auto* right = as_prim(args[1], Prim::Neg);
      if (left && right) return build::mul(left->args[0], right->args[0]);
      if (left) return negated(build::mul(left->args[0], args[1]));
      if (right) return negated(build::mul(args[0], right->args[0]));
      return folded("multiply", args[0], args[1]);
    }
    case Prim::Div:
      if (is(args[1], 1)) return args[0];
      return folded("divide", args[0], args[1]);
    case Prim::Neg:
      if (const auto* inner = as_prim(args[0], Prim::Neg)) return inner->args[0];
      if (const auto value = number(args[0])) return build::constant(dtype_of(args[0]), -*value);
      return nullptr;
    case Prim::Select:
      if (const auto condition = number(args[0])) return *condition != 0 ? args[1] : args[2];
      return nullptr;
    default:
      return nullptr;
  }
}

// for i, j { t[i, j] } over all of t.
Expr copied(const Expr& expr, const lang::Comprehension& node) {
  const auto* index = as<lang::Index>(node.body);
  // Of what a person has written the bounds are checked too.
  if (!is_made(expr) || !index || index->tensor->kind != ExprKind::Var ||
      !same_type(index->tensor, expr) || !has_known_shape(expr) ||
      index->indices.size() != node.binders.size())
    return nullptr;
  for (std::size_t i = 0; i < node.binders.size(); ++i) {
    const auto* var = as<lang::Var>(index->indices[i]);
    if (!var || !(var->variable == node.binders[i].variable)) return nullptr;
  }
  return index->tensor;
}

// Bodies are trees: operands are no atoms, and what a rule makes needs no name.
class BodySimplifier final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    Expr better;
    if (const auto* node = as<lang::Primitive>(expr)) better = simplified_primitive(*node);
    const auto* call = as<lang::Call>(expr);
    if (call && call->callee->kind == ExprKind::Operator)
      better = simplified_arithmetic(expr, Definitions());
    return better ? better : expr;
  }
};

}  // namespace

Expr simplified_index_notation(const Expr& expr) {
  if (const auto* node = as<lang::Comprehension>(expr)) {
    const Expr body = BodySimplifier().rewrite(node->body);
    const Expr better = body == node->body
                            ? expr
                            : lang::make_comprehension(node->binders, body, expr->span, expr->type);
    const Expr copy = copied(better, lang::cast<lang::Comprehension>(better));
    return copy ? copy : better;
  }
  if (const auto* node = as<lang::Reduction>(expr)) {
    const Expr body = BodySimplifier().rewrite(node->body);
    return body == node->body
               ? Expr()
               : lang::make_reduction(node->op, node->binders, body, expr->span, expr->type);
  }
  if (const auto* node = as<lang::ScatterReduce>(expr)) {
    const Expr value = BodySimplifier().rewrite(node->value);
    return value == node->value
               ? Expr()
               : lang::make_scatter_reduce(node->op, node->init, node->binders, node->indices,
                                           value, expr->span, expr->type);
  }
  return nullptr;
}

}  // namespace relay::opt
