#include "ad/transpose.h"

#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "ad/primitive_rules.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Dim;
using lang::Expr;
using lang::ExprKind;
using lang::IndexBinder;
using lang::VariableRef;
namespace build = lang::build;

namespace {

bool is_float_tensor(const lang::Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && lang::is_float(tensor->dtype.known());
}

// Scalar lets are substituted and operator calls on scalars expanded, so that only primitives,
// indexing, reductions and atoms are left.
class ScalarForm final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    if (const auto* let = as<lang::Let>(expr))
      return rewrite(lang::substitute(let->body, {{let->variable.get(), let->value}}));
    const auto* call = as<lang::Call>(expr);
    const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
    if (op && op->op->definition && lang::is_scalar(expr->type)) {
      return ScalarForm().rewrite(op->op->definition({call->args, call->attrs, expr->type}));
    }
    if (const auto* branch = as<lang::If>(expr); branch && lang::is_scalar(expr->type)) {
      return build::select(branch->condition, branch->then_branch, branch->else_branch);
    }
    return expr;
  }
};

// Walks a scalar body backwards: `a` is the adjoint of `expr`, `domain` the binders in force.
class Walker {
 public:
  std::vector<std::pair<VariableRef, Expr>> contributions;

  void walk(const Expr& expr, const Expr& a, const std::vector<IndexBinder>& domain) {
    if (!is_float_tensor(expr->type)) return;
    switch (expr->kind) {
      case ExprKind::Constant:
      case ExprKind::GlobalVar:
        return;
      case ExprKind::Var:
        read(expr, lang::cast<lang::Var>(expr).variable, {}, a, domain);
        return;
      case ExprKind::Index: {
        const auto& index = lang::cast<lang::Index>(expr);
        if (index.tensor->kind == ExprKind::Constant || index.tensor->kind == ExprKind::GlobalVar)
          return;
        const auto* var = as<lang::Var>(index.tensor);
        if (!var) unsupported(expr, "indexing of something that is not a variable");
        if (!lang::is_scalar(expr->type))
          unsupported(expr, "partial indexing inside index notation");
        read(expr, var->variable, index.indices, a, domain);
        return;
      }
      case ExprKind::Primitive: {
        const auto& node = lang::cast<lang::Primitive>(expr);
        const auto adjoints = primitive_adjoints(node, expr, a);
        for (std::size_t i = 0; i < adjoints.size(); ++i) {
          if (adjoints[i]) walk(node.args[i], adjoints[i], domain);
        }
        return;
      }
      case ExprKind::Reduction: {
        // `a` may hold this very reduction as a primal value: the walk inside needs binders of its
        // own.
        const Expr fresh = lang::rename_bound(expr);
        const auto& node = lang::cast<lang::Reduction>(fresh);
        if (node.op != lang::ReduceOp::Sum) {
          lang::fail(lang::DiagnosticKind::Unsupported,
                     fmt::format("not supported: the derivative of the reduction `{}` in index "
                                 "notation (use the operator)",
                                 name_of(node.op)),
                     expr->span);
        }
        std::vector<IndexBinder> inner = domain;
        inner.insert(inner.end(), node.binders.begin(), node.binders.end());
        walk(node.body, a, inner);
        return;
      }
      default:
        unsupported(expr, words_for(expr->kind));
    }
  }

 private:
  static std::string_view words_for(ExprKind kind) {
    switch (kind) {
      case ExprKind::Call:
        return "a call of a function that has branches, loops or a gradient of its own";
      case ExprKind::If:
        return "branches that are tensors";
      case ExprKind::Match:
        return "`match` in it";
      case ExprKind::Comprehension:
        return "a tensor that is computed in each step";
      case ExprKind::ScatterReduce:
        return "`scatter` in it";
      case ExprKind::RefRead:
        return "references in it";
      default:
        return "other things than arithmetic and reductions in it";
    }
  }

  [[noreturn]] static void unsupported(const Expr& expr, std::string_view what) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: the derivative of index notation with {}", what),
               expr->span);
  }

  // The read `variable[indices]` (or the scalar `variable`) has adjoint `a` at each point of
  // `domain`.
  void read(const Expr& expr, const VariableRef& variable, const std::vector<Expr>& indices,
            const Expr& a, const std::vector<IndexBinder>& domain) {
    const auto* tensor = as<lang::TensorType>(variable->type);
    if (!tensor || !tensor->shape.has_rank()) unsupported(expr, "a variable that is not a tensor");
    if (inverts(indices, *tensor, domain)) {
      contributions.emplace_back(variable, gather(indices, a, domain));
      return;
    }
    const Expr init = build::zeros_like(lang::make_var(variable));
    const Expr node = lang::make_scatter_reduce(lang::ReduceOp::Sum, init, domain, indices, a,
                                                expr->span, variable->type);
    contributions.emplace_back(variable, lang::rename_bound(node));
  }

  static const lang::Variable* binder_of(const Expr& index) {
    const auto* var = as<lang::Var>(index);
    return var ? var->variable.get() : nullptr;
  }

  static std::optional<Dim> dim_of(const Expr& extent) {
    if (const auto* term = as<lang::DimTerm>(extent)) return term->dim;
    if (const auto* constant = as<lang::Constant>(extent))
      return Dim(static_cast<std::int64_t>(constant->value->number_at(0)));
    return std::nullopt;
  }

  // Every index is a binder of its own that runs over exactly that axis.
  static bool inverts(const std::vector<Expr>& indices, const lang::TensorType& tensor,
                      const std::vector<IndexBinder>& domain) {
    std::unordered_set<const lang::Variable*> seen;
    for (std::size_t axis = 0; axis < indices.size(); ++axis) {
      const auto* variable = binder_of(indices[axis]);
      if (!variable || !seen.insert(variable).second) return false;
      bool found = false;
      for (const auto& binder : domain) {
        if (binder.variable.get() != variable) continue;
        const auto dim = dim_of(binder.extent);
        found = dim && *dim == tensor.shape[axis];
      }
      if (!found) return false;
    }
    return true;
  }

  static Expr gather(const std::vector<Expr>& indices, const Expr& a,
                     const std::vector<IndexBinder>& domain) {
    std::vector<IndexBinder> kept, summed;
    for (const Expr& index : indices) {
      for (const auto& binder : domain) {
        if (binder.variable.get() == binder_of(index)) kept.push_back(binder);
      }
    }
    for (const auto& binder : domain) {
      bool is_kept = false;
      for (const auto& other : kept) is_kept = is_kept || other.variable == binder.variable;
      if (!is_kept) summed.push_back(binder);
    }
    Expr body = a;
    if (!summed.empty()) body = lang::make_reduction(lang::ReduceOp::Sum, summed, body);
    if (!kept.empty()) body = lang::make_comprehension(kept, body);
    return lang::rename_bound(body);
  }
};

std::vector<Expr> uses_of(const std::vector<IndexBinder>& binders) {
  std::vector<Expr> uses;
  for (const auto& binder : binders) uses.push_back(lang::make_var(binder.variable));
  return uses;
}

}  // namespace

std::vector<std::pair<VariableRef, Expr>> transpose(const Expr& node, const Expr& adjoint) {
  const Expr plain = lang::rename_bound(ScalarForm().rewrite(node));
  Walker walker;
  switch (plain->kind) {
    case ExprKind::Comprehension: {
      const auto& comprehension = lang::cast<lang::Comprehension>(plain);
      walker.walk(comprehension.body, build::at(adjoint, uses_of(comprehension.binders)),
                  comprehension.binders);
      break;
    }
    case ExprKind::Reduction:
    case ExprKind::Primitive:
      walker.walk(plain, adjoint, {});
      break;
    case ExprKind::Index: {
      const auto& index = lang::cast<lang::Index>(plain);
      const auto* var = as<lang::Var>(index.tensor);
      if (!var) break;
      const auto& rest = as<lang::TensorType>(plain->type)->shape.dims();
      const Expr init = build::zeros_like(index.tensor);
      const Expr scattered =
          build::scatter(lang::ReduceOp::Sum, init, rest, [&](const build::Indices& inner) {
            build::Indices all;
            for (const Expr& each : index.indices)
              all.push_back(build::cast_to(lang::DType::Int64, each));
            all.insert(all.end(), inner.begin(), inner.end());
            return std::pair{all, build::at(adjoint, inner)};
          });
      walker.contributions.emplace_back(var->variable, scattered);
      break;
    }
    case ExprKind::ScatterReduce: {
      const auto& scatter = lang::cast<lang::ScatterReduce>(plain);
      if (scatter.op != lang::ReduceOp::Sum) {
        lang::fail(lang::DiagnosticKind::Unsupported,
                   fmt::format("not supported: the derivative of a scatter with `{}`",
                               name_of(scatter.op)),
                   node->span);
      }
      if (const auto* var = as<lang::Var>(scatter.init))
        walker.contributions.emplace_back(var->variable, adjoint);
      walker.walk(scatter.value, build::at(adjoint, scatter.indices), scatter.binders);
      break;
    }
    default:
      // ScalarForm turned the whole node into an atom or a select: nothing indexes, the scalar
      // rules apply.
      walker.walk(plain, adjoint, {});
  }
  return std::move(walker.contributions);
}

}  // namespace relay::ad
