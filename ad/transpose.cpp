#include "ad/transpose.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "ad/adjoint_scope.h"
#include "ad/primal.h"
#include "ad/primitive_rules.h"
#include "ad/reduce_adjoint.h"
#include "ad/scatter_adjoint.h"
#include "ad/shared_points.h"
#include "index/any_point.h"
#include "index/binder_use.h"
#include "index/common_factors.h"
#include "index/conditions.h"
#include "index/scalar_form.h"
#include "index/scalar_work.h"
#include "index/shared_nodes.h"
#include "index/ways.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using index::AskedMore;
using index::BinderUse;
using index::both;
using index::conjuncts;
using index::junction;
using index::Junction;
using index::kKeptWork;
using index::scalar_form;
using index::scalar_work;
using index::ScalarWork;
using index::TakenSide;
using index::with_common_factors;
using index::with_shared_nodes;
using index::without_negation;
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
    for (const TakenSide& part : conjuncts(side)) known_.emplace(part.condition.get(), part.holds);
    all_ = both(all_, side.truth());
  }

  // The index without the branches that are not taken.
  Expr index(Expr index) const {
    while (const auto* select = as_select(index)) {
      const std::optional<bool> holds = is_known(select->args[0]);
      if (!holds) break;
      index = select->args[*holds ? 1 : 2];
    }
    return index;
  }

  // Null: nothing, it is always done.
  const Expr& all() const { return all_; }

 private:
  std::optional<bool> is_known(const Expr& condition) const {
    const TakenSide plain = without_negation({condition, true});
    const auto found = known_.find(plain.condition.get());
    if (found != known_.end()) return found->second == plain.holds;
    const std::optional<Junction> of_two = junction(plain.condition);
    if (!of_two) return std::nullopt;
    const std::optional<bool> a = is_known(of_two->a), b = is_known(of_two->b);
    const bool decides = !of_two->is_and;  // the value of either that is that of both
    if (a == decides || b == decides) return decides == plain.holds;
    if (a && b) return of_two->is_and == plain.holds;
    return std::nullopt;
  }

  static const lang::Primitive* as_select(const Expr& expr) {
    const auto* node = as<lang::Primitive>(expr);
    return node && node->prim == Prim::Select ? node : nullptr;
  }

  std::unordered_map<const ExprNode*, bool> known_;
  Expr all_;
};

// Is the adjoint of that operand 0 wherever that of the result is, whatever its other operands are?
bool keeps_zero(const lang::Primitive& node, std::size_t operand) {
  switch (node.prim) {
    case Prim::Add:
    case Prim::Sub:
    case Prim::Neg:
    case Prim::Cast:
      return true;
    case Prim::Mul:
      return as<lang::Constant>(node.args[1 - operand]) != nullptr;
    case Prim::Div:
      return operand == 0 && as<lang::Constant>(node.args[1]);
    default:
      return false;
  }
}

// Walks scalar code backwards. The code is a graph: each node is walked once, with the sum of what
// its uses give it. The body of a reduction is a scope, and so is each side of a condition, which
// all `select`s by it share; a node belongs to the innermost scope around all its uses. What leaves
// a scope is summed over its binders, or dropped where its side is not taken: there and not before,
// so that an infinite derivative of a side that is not taken does no harm. Where one of several
// sides uses a node, its scope is taken if any of them is (index/ways).
//
// What is the same at many points (`1 / a[k, k]`, or `a[i, k] / a[k, k]` for all j) has a scope of
// its own, with the binders that it depends on and none around it: what its uses give it is summed
// over the other binders first, and what it reads gets one value for all of them.
class AdjointWalker {
 public:
  struct Root {
    Expr expr;
    Expr adjoint;
  };

  // `form`: what holds all that is walked.
  AdjointWalker(const Expr& form, Emitter& code) : code_(code), primal_(form, code), use_(form) {}

  void walk(const std::vector<Root>& roots, const std::vector<IndexBinder>& domain) {
    const ScopeId all_points = scopes_.outermost(domain);
    primal_.add_binders(domain);
    std::vector<Expr> fields;
    for (const Root& root : roots) fields.push_back(root.expr);
    const Expr all = lang::make_tuple(std::move(fields));
    std::vector<Expr> order;
    lang::visit_post_order(all, [&](const Expr& node) {
      order.push_back(node);
      work_.emplace(node.get(), scalar_work(node, work_));
    });
    for (const Root& root : roots) enter(root.expr, all_points);
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      if (homes_.contains(node->get())) assign_children(*node);
    }
    for (const Root& root : roots) contribute(root.expr, all_points, root.adjoint, false);
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      const auto homes = homes_.find(node->get());
      if (homes == homes_.end()) continue;
      if (const auto own = own_.find(node->get()); own != own_.end()) {
        step_at_own_points(*node, own->second, homes->second);
      } else {
        for (const Home& home : homes->second) {
          if (!home.adjoint.empty()) step_at_home(*node, home);
        }
      }
    }
  }

  std::vector<Contribution> contributions;

 private:
  using ScopeId = AdjointScopes::Id;
  // Where the uses of a node meet that are in one tree of scopes.
  struct Home {
    ScopeId scope;
    std::vector<ScopeId> uses;
    std::vector<AdjointScopes::Part> adjoint = {};
  };

  // --- Scopes ---

  ScopeId scope_of_points(const Expr& expr, ScopeId around) {
    const auto [place, is_new] = of_points_.try_emplace(expr.get());
    if (is_new) {
      const auto& binders = lang::cast<lang::Reduction>(expr).binders;
      place->second = scopes_.at_points(around, binders);
      primal_.add_binders(binders);
    }
    return place->second;
  }

  ScopeId scope_of_operand(const lang::Primitive& node, std::size_t i, ScopeId scope) {
    if (node.prim != Prim::Select || i == 0) return scope;
    return scopes_.on_side(scope, {primal_.rewrite(node.args[0]), i == 1});
  }

  Home* home_in(std::size_t tree, const Expr& expr) {
    for (Home& home : homes_[expr.get()]) {
      if (scopes_.tree_of(home.scope) == tree) return &home;
    }
    return nullptr;
  }

  void enter(const Expr& expr, ScopeId use) {
    if (!is_differentiable_scalar(expr)) return;
    Home* const home = home_in(scopes_.tree_of(use), expr);
    if (home) {
      home->scope = scopes_.meeting(home->scope, use);
      home->uses.push_back(use);
    } else {
      homes_[expr.get()].push_back({use, {use}});
    }
  }

  // Is it the same at many points, and more than it takes to keep its adjoint?
  bool has_own_points(const Expr& expr, const std::vector<Home>& homes) const {
    if (!use_.is_known() || is_read(expr)) return false;
    if (homes.size() > 1) return true;  // of which one is in a scope of that kind
    // What is the same at all points would be computed between kernels, and keep them apart.
    const std::uint64_t around = use_.of(scopes_.points(homes[0].scope));
    const std::uint64_t own = use_.of(expr);
    return own != 0 && work_.at(expr.get()) > kKeptWork && use_.are_many(around & ~own);
  }

  // A scope at the points that it depends on, which is taken where any use of it is.
  ScopeId own_points(const Expr& expr, const std::vector<Home>& homes) {
    const std::uint64_t points = use_.of(expr);
    const ScopeId all = scopes_.outermost(use_.binders_in(points));
    Expr is_used;
    for (const Home& home : homes) {
      std::vector<TakenSide> sides = all_sides(home.scope);
      if (const Expr taken = scopes_.taken(home.uses, home.scope)) sides.push_back({taken});
      const std::uint64_t others = use_.of(scopes_.points(home.scope)) & ~points;
      const Expr here = index::at_any_point(sides, use_.binders_in(others));
      if (!here) return all;
      is_used = is_used ? build::prim(Prim::Or, {is_used, here}) : here;
    }
    return scopes_.on_side(all, {is_used});
  }

  void assign_children(const Expr& expr) {
    const std::vector<Home> homes = homes_.at(expr.get());
    ScopeId scope = homes[0].scope;
    if (has_own_points(expr, homes)) {
      scope = own_points(expr, homes);
      own_.emplace(expr.get(), scope);
    }
    if (const auto* node = as<lang::Primitive>(expr)) {
      for (std::size_t i = 0; i < node->args.size(); ++i)
        enter(node->args[i], scope_of_operand(*node, i, scope));
    } else if (const auto* call = as<lang::Call>(expr)) {
      for (const Expr& arg : call->args) enter(arg, scope);
    } else if (const auto* reduction = as<lang::Reduction>(expr)) {
      enter(reduction->body, scope_of_points(expr, scope));
    }
  }

  // --- Adjoints ---

  // `expr` is used in the scope `use`, and this use has adjoint `a` there; null: zero. `is_loose`:
  // it may be other than 0 where the scope is not taken.
  void contribute(const Expr& expr, ScopeId use, Expr a, bool is_loose) {
    if (!a || !is_differentiable_scalar(expr)) return;
    // Elsewhere its derivative may be infinite.
    if (is_used_ && !is_read(a)) a = TakenSide{is_used_}.kept(a);
    Home* const home = home_in(scopes_.tree_of(use), expr);
    RELAY_CHECK(home, "what is used has a place where its uses meet");
    home->adjoint.push_back({use, std::move(a), is_loose});
  }

  // The sum of all that its uses give it, over the points that it does not depend on.
  void step_at_own_points(const Expr& expr, ScopeId own, const std::vector<Home>& homes) {
    const std::uint64_t points = use_.of(expr);
    Expr sum;
    for (const Home& home : homes) {
      if (home.adjoint.empty()) continue;
      const AdjointScopes::Sum part = scopes_.sum(home.adjoint, home.scope);
      Expr a = kept(home.scope, part.value, part.is_loose);
      const std::uint64_t others = use_.of(scopes_.points(home.scope)) & ~points;
      if (others != 0)
        a = lang::rename_bound(lang::make_reduction(ReduceOp::Sum, use_.binders_in(others), a));
      sum = sum ? build::add(sum, a) : a;
    }
    if (!sum) return;
    step(expr, own, primal_.once("adjoint", sum), false);
  }

  void step_at_home(const Expr& expr, const Home& home) {
    const auto arithmetic = lang::arithmetic_step(expr);
    const AdjointScopes::Sum adjoint = scopes_.sum(home.adjoint, home.scope);
    if (arithmetic && !lang::is_cheap(arithmetic->prim))
      is_used_ = scopes_.taken(home.uses, home.scope);
    step(expr, home.scope, adjoint.value, adjoint.is_loose);
    is_used_ = nullptr;
  }

  // What is `a` where the scope is taken, or else 0.
  Expr kept(ScopeId scope, Expr a, bool is_loose) {
    const std::vector<AskedMore>& sides = scopes_.sides(scope);
    for (auto asked = sides.rbegin(); asked != sides.rend(); ++asked)
      a = asked->kept(std::move(a), is_loose);
    return a;
  }

  // What a table holds that is read only where the scope is taken.
  Expr kept_in_table(ScopeId scope, const Expr& value) {
    return index::kept_at_points(value, all_sides(scope), scopes_.points(scope));
  }

  // Outer ones first.
  std::vector<TakenSide> all_sides(ScopeId scope) {
    std::vector<TakenSide> sides;
    for (const AskedMore& asked : scopes_.sides(scope))
      std::ranges::move(asked.all(), std::back_inserter(sides));
    return sides;
  }

  void step(const Expr& expr, ScopeId scope, const Expr& a, bool is_loose) {
    switch (expr->kind) {
      case ExprKind::Constant:
      case ExprKind::GlobalVar:
        return;
      case ExprKind::Var:
        return read(expr, lang::cast<lang::Var>(expr).variable, {}, scope, a, is_loose);
      case ExprKind::Index: {
        const auto& index = lang::cast<lang::Index>(expr);
        if (const auto* var = as<lang::Var>(index.tensor))
          read(expr, var->variable, index.indices, scope, a, is_loose);
        return;
      }
      case ExprKind::Primitive:
        return primitive(expr, scope, a, is_loose);
      case ExprKind::Call:
        return call(expr, scope, a);
      case ExprKind::Reduction:
        return reduction(expr, scope, a, is_loose);
      default:
        RELAY_CHECK(false, fmt::format("`{}` is no arithmetic", name_of(expr->kind)));
    }
  }

  void primitive(const Expr& expr, ScopeId scope, const Expr& a, bool is_loose) {
    const auto& node = lang::cast<lang::Primitive>(expr);
    const Expr value = primal_.rewrite(expr);
    const std::vector<Expr> adjoints =
        node.prim == Prim::Select
            ? std::vector<Expr>{nullptr, a, a}  // the scopes of the sides see to the rest
            : primitive_adjoints(lang::cast<lang::Primitive>(value), value, a);
    for (std::size_t i = 0; i < adjoints.size(); ++i)
      contribute(node.args[i], scope_of_operand(node, i, scope), adjoints[i],
                 is_loose || !keeps_zero(node, i));
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
        contribute(node.args[i], scope, lang::substitute(scalar_form(adjoints[i]), values), true);
    }
  }

  void reduction(const Expr& expr, ScopeId scope, const Expr& a, bool is_loose) {
    const auto& node = lang::cast<lang::Reduction>(expr);
    const ScopeId inside = scope_of_points(expr, scope);
    Expr adjoint = a;
    // Each of its points has a use for the adjoint, which is the same for all.
    const bool is_kept = !is_short(node) || scalar_work(a) > kKeptWork;
    if (!is_read(a) && is_kept) {
      if (const Expr read = primal_.once("adjoint", kept_in_table(scope, a))) adjoint = read;
    }
    if (node.op != ReduceOp::Sum) {
      const Expr element = primal_.where_needed(expr, primal_.rewrite(node.body));
      adjoint =
          element_adjoint(node.op, element, scopes_.points(scope), node.binders, adjoint, code_);
    }
    contribute(node.body, inside, adjoint, is_loose || node.op != ReduceOp::Sum);
  }

  // The read `variable[indices]` (or the scalar `variable`) has adjoint `a` at each point of its
  // scope.
  void read(const Expr& expr, const lang::VariableRef& variable, const std::vector<Expr>& indices,
            ScopeId scope, Expr a, bool is_loose) {
    Taken taken;
    for (const TakenSide& side : all_sides(scope)) taken.add(side);
    Contribution read{
        variable, {}, kept(scope, std::move(a), is_loose), scopes_.points(scope), expr->span};
    for (const Expr& index : indices) {
      const Expr place = primal_.rewrite(index);
      read.indices.push_back(taken.index(place));
      if (read.indices.back() != place) read.guard = taken.all();
    }
    add_to(contributions, std::move(read));
  }

  Emitter& code_;
  Primal primal_;
  AdjointScopes scopes_;
  BinderUse use_;
  ScalarWork work_;
  std::unordered_map<const ExprNode*, std::vector<Home>> homes_;
  Expr is_used_;  // of the node at hand: does a point take a side that uses it? null: always
  std::unordered_map<const ExprNode*, ScopeId> own_;        // of what is the same at many points
  std::unordered_map<const ExprNode*, ScopeId> of_points_;  // by the reduction
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
  const Expr plain = with_shared_nodes(with_common_factors(lang::rename_bound(form)));
  AdjointWalker walker(plain, code);
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
