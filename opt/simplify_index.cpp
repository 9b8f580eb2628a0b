#include "lang/binders.h"
#include "lang/build.h"
#include "lang/visit.h"
#include "opt/definitions.h"

// Index notation: the algebra of operators on the primitives of its bodies, and loops that only
// copy.

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
namespace build = lang::build;

Expr copied(const Expr& expr) {
  const auto* node = as<lang::Comprehension>(expr);
  const auto* index = node ? as<lang::Index>(node->body) : nullptr;
  if (!index || !variable_of(index->tensor) || !same_type(index->tensor, expr) ||
      !has_known_shape(expr) || index->indices.size() != node->binders.size())
    return nullptr;
  for (std::size_t i = 0; i < node->binders.size(); ++i) {
    if (variable_of(index->indices[i]) != node->binders[i].variable.get()) return nullptr;
  }
  return index->tensor;
}

namespace {

// Bodies are trees: operands are no atoms, and what a rule makes needs no name.
class BodySimplifier final : public lang::Rewriter {
 public:
  BodySimplifier(const Definitions& outside, const SimplifyOptions& options)
      : outside_(outside), options_(options) {}

 protected:
  Expr post(const Expr& expr) override {
    if (const auto* index = as<lang::Index>(expr)) {
      const Expr element = element_of(*index);
      return element ? element : expr;
    }
    const auto* call = as<lang::Call>(expr);
    const bool is_step =
        call ? call->callee->kind == ExprKind::Operator : expr->kind == ExprKind::Primitive;
    const lang::AlgebraScope scope(rules_.algebra(expr));
    Expr better = is_step ? simplified_arithmetic(expr, rules_) : Expr();
    return better ? better : expr;
  }

 private:
  // Of a tensor whose elements are all the same.
  Expr element_of(const lang::Index& index) const {
    return index.in_bounds && index.tensor->kind == ExprKind::Var && lang::is_scalar(index.type)
               ? outside_.element(index.tensor)
               : Expr();
  }

  const Definitions& outside_;
  const SimplifyOptions& options_;
  const Definitions definitions_;
  const Rules rules_{definitions_, options_};
};

}  // namespace

void IndexRanges::note(const Expr& expr) {
  const auto* binders = lang::binders_of(expr);
  if (!binders) return;
  for (const lang::IndexBinder& binder : *binders) extents_[binder.variable.get()] = binder.extent;
}

bool IndexRanges::is_within(const Expr& position, const Expr& tensor, std::size_t axis,
                            const Definitions& definitions) const {
  const lang::Dim& dim = as<lang::TensorType>(tensor->type)->shape[axis];
  if (const auto number = integer(position))
    return dim.is_constant() && *number >= 0 && *number < dim.constant();
  const auto* index = as<lang::Var>(position);
  const Expr* found = index ? extents_.find(index->variable.get()) : nullptr;
  if (!found) return false;
  const Expr& extent = definitions.of(*found);
  if (const auto number = integer(extent)) return dim.is_constant() && *number <= dim.constant();
  if (const auto* term = as<lang::DimTerm>(extent)) return !dim.is_any() && term->dim == dim;
  const lang::Call* call = definitions.call_of(*found, known::dim_of);
  const auto* type = call ? as<lang::TensorType>(call->args[0]->type) : nullptr;
  if (!type || !type->shape.has_rank()) return false;
  const auto own =
      static_cast<std::size_t>(place_of_axis(call->attrs->get_int("axis"), type->shape.rank()));
  const bool is_same = own == axis && same_atom(call->args[0], tensor);
  return is_same || (!dim.is_any() && own < type->shape.rank() && type->shape[own] == dim);
}

Expr simplified_read(const Expr& expr, const IndexRanges& ranges, const Definitions& definitions) {
  const auto* index = as<lang::Index>(expr);
  const auto* type = index ? as<lang::TensorType>(index->tensor->type) : nullptr;
  if (!type || index->in_bounds || !type->shape.has_rank()) return nullptr;
  for (std::size_t axis = 0; axis < index->indices.size(); ++axis) {
    if (!ranges.is_within(index->indices[axis], index->tensor, axis, definitions)) return nullptr;
  }
  return lang::make_index(index->tensor, index->indices, true, expr->span, expr->type);
}

Expr simplified_index_notation(const Expr& expr, const Rules& rules) {
  const auto simplified_body = [&](const Expr& body) {
    return BodySimplifier(rules.definitions, rules.options).rewrite(body);
  };
  if (const auto* node = as<lang::Comprehension>(expr)) {
    const Expr body = simplified_body(node->body);
    const Expr better = body == node->body
                            ? expr
                            : lang::make_comprehension(node->binders, body, expr->span, expr->type);
    // What a person has written is also a check of what the type says.
    const Expr copy = better->span ? Expr() : copied(better);
    return copy ? copy : better;
  }
  if (const auto* node = as<lang::Reduction>(expr)) {
    const Expr body = simplified_body(node->body);
    return body == node->body
               ? Expr()
               : lang::make_reduction(node->op, node->binders, body, expr->span, expr->type);
  }
  if (const auto* node = as<lang::ScatterReduce>(expr)) {
    const Expr value = simplified_body(node->value);
    return value == node->value
               ? Expr()
               : lang::make_scatter_reduce(node->op, node->init, node->binders, node->indices,
                                           value, expr->span, expr->type, node->algebra);
  }
  return nullptr;
}

}  // namespace relay::opt
