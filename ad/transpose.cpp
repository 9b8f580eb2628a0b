#include "ad/transpose.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "ad/conditions.h"
#include "ad/primitive_rules.h"
#include "ad/reduce_adjoint.h"
#include "ad/scalar_form.h"
#include "ad/scalar_work.h"
#include "ad/scatter_adjoint.h"
#include "ad/shared_points.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::ExprNode;
using lang::IndexBinder;
using lang::Prim;
using lang::ReduceOp;
namespace build = lang::build;

namespace {

bool is_differentiable_scalar(const Expr& expr) {
  const auto* tensor = as<lang::TensorType>(expr->type);
  return tensor && lang::is_scalar(expr->type) && lang::is_float(tensor->dtype.known());
}

// What holds where a read is done, and what is known there.
class Taken {
 public:
  void add(const TakenSide& taken) {
    const TakenSide side = without_negation(taken);
    known_.emplace(side.condition.get(), side.holds);
    const Expr each = side.holds ? side.condition : build::prim(Prim::Not, {side.condition});
    all_ = both(all_, each);
  }

  // The index without the branches that are not taken.
  Expr index(Expr index) const {
    while (const auto* select = as_select(index)) {
      const TakenSide first = without_negation({select->args[0], true});
      const auto found = known_.find(first.condition.get());
      if (found == known_.end()) break;
      index = select->args[found->second == first.holds ? 1 : 2];
    }
    return index;
  }

  // Null: nothing, it is always done.
  const Expr& all() const { return all_; }

 private:
  static const lang::Primitive* as_select(const Expr& expr) {
    const auto* node = as<lang::Primitive>(expr);
    return node && node->prim == Prim::Select ? node : nullptr;
  }

  std::unordered_map<const ExprNode*, bool> known_;
  Expr all_;
};

// Reductions of at most so many points are rather computed again than kept.
constexpr int kShortReduction = 16;

bool is_short(const lang::Reduction& reduction) {
  const std::optional<double> points = number_of_points(reduction.binders);
  if (!points || *points > kShortReduction) return false;
  bool has_inner = false;
  lang::visit_post_order(reduction.body, [&](const Expr& node) {
    has_inner = has_inner || node->kind == ExprKind::Reduction;
  });
  return !has_inner;
}

bool is_read(const Expr& expr) {
  return expr->kind == ExprKind::Index || expr->kind == ExprKind::Var ||
         expr->kind == ExprKind::Constant;
}

// Code for primal values in adjoints. What an adjoint multiplies is often a reduction, and the
// adjoint belongs to more points than that: each reduction is computed once, for all points that it
// depends on, and read from there.
class Primal final : public lang::Rewriter {
 public:
  explicit Primal(Emitter& code) : code_(code) {}

  // What values may depend on, outer binders first.
  void add_binders(const std::vector<IndexBinder>& binders) {
    binders_.insert(binders_.end(), binders.begin(), binders.end());
  }

  // A read of what `expr` is at all points that it depends on. Null where the extent of such a
  // table would depend on an index.
  Expr once(const std::string& name, const Expr& expr) {
    const std::vector<IndexBinder> domain = used(lang::free_variables(expr));
    for (const IndexBinder& binder : domain) {
      if (!used(lang::free_variables(binder.extent)).empty()) return nullptr;
    }
    return build::at(tabulated(name, domain, expr, code_), uses_of(domain));
  }

 protected:
  Expr pre(const Expr& expr) override {
    const auto* reduction = as<lang::Reduction>(expr);
    if (!reduction) return nullptr;
    // A copy may come to be under the binders of that very reduction.
    if (is_short(*reduction)) return lang::rename_bound(expr);
    const auto [place, is_new] = tables_.try_emplace(expr.get());
    if (is_new) place->second = once("values", expr);
    return place->second ? place->second : lang::rename_bound(expr);
  }

 private:
  std::vector<IndexBinder> used(const std::vector<lang::VariableRef>& variables) const {
    std::vector<IndexBinder> found;
    for (const IndexBinder& binder : binders_) {
      if (std::find(variables.begin(), variables.end(), binder.variable) != variables.end())
        found.push_back(binder);
    }
    return found;
  }

  Emitter& code_;
  std::vector<IndexBinder> binders_;
  std::unordered_map<const ExprNode*, Expr> tables_;
};

// Walks scalar code backwards. The code is a graph: each node is walked once, with the sum of what
// its uses give it. The body of a reduction is a scope, and so is each side of a `select`; a node
// belongs to the innermost scope around all its uses. What leaves a scope is summed over its
// binders, or dropped where its side is not taken: there and not before, so that an infinite
// derivative of a side that is not taken does no harm.
class AdjointWalker {
 public:
  struct Root {
    Expr expr;
    Expr adjoint;
  };

  explicit AdjointWalker(Emitter& code) : code_(code), primal_(code) {}

  void walk(const std::vector<Root>& roots, const std::vector<IndexBinder>& domain) {
    scopes_.push_back({0, 0, domain, {}});
    primal_.add_binders(domain);
    std::vector<Expr> fields;
    for (const Root& root : roots) fields.push_back(root.expr);
    const Expr all = lang::make_tuple(std::move(fields));
    std::vector<Expr> order;
    lang::visit_post_order(all, [&](const Expr& node) { order.push_back(node); });
    for (const Root& root : roots) enter(root.expr, 0);
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      if (scope_of_.count(node->get())) assign_children(*node);
    }
    for (const Root& root : roots) contribute(root.expr, 0, root.adjoint);
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      const auto found = adjoints_.find(node->get());
      if (found != adjoints_.end()) step(*node, scope_of_.at(node->get()), found->second);
    }
  }

  std::vector<Contribution> contributions;

 private:
  using ScopeId = std::size_t;
  struct Scope {
    ScopeId parent;
    int depth;
    std::vector<IndexBinder> binders;
    TakenSide guard;
  };

  // --- Scopes ---

  ScopeId inner_scope(const Expr& node, int side, ScopeId parent,
                      const std::vector<IndexBinder>& binders, TakenSide guard) {
    const auto [place, is_new] = inner_[side].try_emplace(node.get(), scopes_.size());
    if (is_new) {
      scopes_.push_back({parent, scopes_[parent].depth + 1, binders, std::move(guard)});
      primal_.add_binders(binders);
    }
    return place->second;
  }

  void enter(const Expr& expr, ScopeId use) {
    if (!is_differentiable_scalar(expr)) return;
    const auto [place, is_new] = scope_of_.try_emplace(expr.get(), use);
    if (is_new) return;
    ScopeId a = place->second;
    ScopeId b = use;
    while (a != b) {
      ScopeId& deeper = scopes_[a].depth >= scopes_[b].depth ? a : b;
      deeper = scopes_[deeper].parent;
    }
    place->second = a;
  }

  void assign_children(const Expr& expr) {
    const ScopeId scope = scope_of_.at(expr.get());
    if (const auto* node = as<lang::Primitive>(expr)) {
      for (std::size_t i = 0; i < node->args.size(); ++i)
        enter(node->args[i], scope_of_operand(expr, *node, i, scope));
    } else if (const auto* call = as<lang::Call>(expr)) {
      for (const Expr& arg : call->args) enter(arg, scope);
    } else if (const auto* reduction = as<lang::Reduction>(expr)) {
      enter(reduction->body, inner_scope(expr, 0, scope, reduction->binders, {}));
    }
  }

  ScopeId scope_of_operand(const Expr& expr, const lang::Primitive& node, std::size_t i,
                           ScopeId scope) {
    if (node.prim != Prim::Select || i == 0) return scope;
    return inner_scope(expr, static_cast<int>(i), scope, {},
                       {primal_.rewrite(node.args[0]), i == 1});
  }

  std::vector<IndexBinder> domain_of(ScopeId scope) const {
    std::vector<IndexBinder> domain;
    if (scope != 0) domain = domain_of(scopes_[scope].parent);
    const auto& own = scopes_[scope].binders;
    domain.insert(domain.end(), own.begin(), own.end());
    return domain;
  }

  // --- Adjoints ---

  // `expr` is used in the scope `use`, and this use has adjoint `a` there; null: zero.
  void contribute(const Expr& expr, ScopeId use, Expr a) {
    if (!a || !is_differentiable_scalar(expr)) return;
    for (const ScopeId own = scope_of_.at(expr.get()); use != own; use = scopes_[use].parent) {
      const Scope& left = scopes_[use];
      a = left.guard.kept(a);
      if (!left.binders.empty())
        a = lang::rename_bound(lang::make_reduction(ReduceOp::Sum, left.binders, a));
    }
    Expr& sum = adjoints_[expr.get()];
    sum = sum ? build::add(sum, a) : a;
  }

  void step(const Expr& expr, ScopeId scope, const Expr& a) {
    switch (expr->kind) {
      case ExprKind::Constant:
      case ExprKind::GlobalVar:
        return;
      case ExprKind::Var:
        return read(expr, lang::cast<lang::Var>(expr).variable, {}, scope, a);
      case ExprKind::Index: {
        const auto& index = lang::cast<lang::Index>(expr);
        if (const auto* var = as<lang::Var>(index.tensor))
          read(expr, var->variable, index.indices, scope, a);
        return;
      }
      case ExprKind::Primitive:
        return primitive(expr, scope, a);
      case ExprKind::Call:
        return call(expr, scope, a);
      case ExprKind::Reduction:
        return reduction(expr, scope, a);
      default:
        RELAY_CHECK(false, fmt::format("`{}` is no arithmetic", name_of(expr->kind)));
    }
  }

  void primitive(const Expr& expr, ScopeId scope, const Expr& a) {
    const auto& node = lang::cast<lang::Primitive>(expr);
    const Expr value = primal_.rewrite(expr);
    const std::vector<Expr> adjoints =
        node.prim == Prim::Select
            ? std::vector<Expr>{nullptr, a, a}  // the scopes of the sides see to the rest
            : primitive_adjoints(lang::cast<lang::Primitive>(value), value, a);
    for (std::size_t i = 0; i < adjoints.size(); ++i)
      contribute(node.args[i], scope_of_operand(expr, node, i, scope), adjoints[i]);
  }

  // An operator with a gradient of its own, or none.
  void call(const Expr& expr, ScopeId scope, const Expr& a) {
    const auto& node = lang::cast<lang::Call>(expr);
    const lang::OpDef& op = *lang::cast<lang::Operator>(node.callee).op;
    if (!op.differentiable) return;
    lang::Substitution values;
    const auto named = [&](const Expr& value) {
      const lang::VariableRef variable = lang::make_variable("x", value->type);
      values.emplace(variable.get(), value);
      return lang::make_var(variable);
    };
    lang::GradientCall rule{{}, node.attrs, named(primal_.rewrite(expr)), named(a)};
    for (const Expr& arg : node.args) rule.args.push_back(named(primal_.rewrite(arg)));
    const std::vector<Expr> adjoints = op.gradient(rule);
    for (std::size_t i = 0; i < adjoints.size() && i < node.args.size(); ++i) {
      if (adjoints[i])
        contribute(node.args[i], scope, lang::substitute(scalar_form(adjoints[i]), values));
    }
  }

  void reduction(const Expr& expr, ScopeId scope, const Expr& a) {
    const auto& node = lang::cast<lang::Reduction>(expr);
    const ScopeId inside = inner_scope(expr, 0, scope, node.binders, {});
    Expr adjoint = a;
    // Each of its points has a use for the adjoint, which is the same for all.
    const bool is_kept = !is_short(node) || scalar_work(a) > kKeptWork;
    if (!is_read(a) && is_kept) {
      if (const Expr read = primal_.once("adjoint", a)) adjoint = read;
    }
    if (node.op != ReduceOp::Sum) {
      const Expr elements =
          tabulated("elements", domain_of(inside), primal_.rewrite(node.body), code_);
      adjoint = element_adjoint(node.op, elements, domain_of(scope), node.binders, adjoint, code_);
    }
    contribute(node.body, inside, adjoint);
  }

  // The read `variable[indices]` (or the scalar `variable`) has adjoint `a` at each point of its
  // scope.
  void read(const Expr& expr, const lang::VariableRef& variable, const std::vector<Expr>& indices,
            ScopeId scope, Expr a) {
    Taken taken;
    for (ScopeId each = scope; each != 0; each = scopes_[each].parent) {
      a = scopes_[each].guard.kept(a);
      if (scopes_[each].guard.condition) taken.add(scopes_[each].guard);
    }
    Contribution read{variable, {}, std::move(a), domain_of(scope), expr->span};
    for (const Expr& index : indices) {
      const Expr place = primal_.rewrite(index);
      read.indices.push_back(taken.index(place));
      if (read.indices.back() != place) read.guard = taken.all();
    }
    add_to(contributions, std::move(read));
  }

  Emitter& code_;
  Primal primal_;
  std::vector<Scope> scopes_;
  std::unordered_map<const ExprNode*, ScopeId> scope_of_;
  std::unordered_map<const ExprNode*, ScopeId> inner_[3];
  std::unordered_map<const ExprNode*, Expr> adjoints_;
};

// x[i] with its result's adjoint, outside of any comprehension.
Contribution whole_read(const lang::Index& index, const lang::VariableRef& variable,
                        const Expr& adjoint, Emitter& code) {
  Contribution read{variable, {}, nullptr, {}, index.span};
  for (const Expr& each : index.indices)
    read.indices.push_back(build::cast_to(lang::DType::Int64, each));
  read.domain = binders_over(index.tensor, index.indices.size(), code);
  const std::vector<Expr> rest = uses_of(read.domain);
  read.indices.insert(read.indices.end(), rest.begin(), rest.end());
  read.value = build::at(adjoint, rest);
  return read;
}

}  // namespace

std::vector<Contribution> transpose(const Expr& form, const std::vector<Expr>& adjoints,
                                    Emitter& code) {
  const Expr plain = lang::rename_bound(form);
  AdjointWalker walker(code);
  std::vector<IndexBinder> domain;
  if (const auto* comprehension = as<lang::Comprehension>(plain)) {
    domain = comprehension->binders;
    const auto* tuple = as<lang::Tuple>(comprehension->body);
    std::vector<AdjointWalker::Root> roots;
    for (std::size_t i = 0; i < adjoints.size(); ++i) {
      if (!adjoints[i]) continue;
      roots.push_back({tuple ? tuple->fields[i] : comprehension->body,
                       build::at(adjoints[i], uses_of(comprehension->binders))});
    }
    walker.walk(roots, comprehension->binders);
  } else if (const auto* index = as<lang::Index>(plain)) {
    if (const auto* var = as<lang::Var>(index->tensor))
      walker.contributions.push_back(whole_read(*index, var->variable, adjoints[0], code));
  } else if (const auto* scatter = as<lang::ScatterReduce>(plain)) {
    const ScatterAdjoint parts = scatter_adjoint(*scatter, adjoints[0], code);
    if (const auto* var = as<lang::Var>(scatter->init))
      walker.contributions.push_back({var->variable, {}, parts.init, {}, form->span});
    walker.walk({{scatter->value, parts.value}}, scatter->binders);
  } else {
    walker.walk({{plain, adjoints[0]}}, {});
  }
  compute_shared_once(walker.contributions, domain, code);
  return std::move(walker.contributions);
}

}  // namespace relay::ad
