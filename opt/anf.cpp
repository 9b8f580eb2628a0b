#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "lang/alpha_equal.h"
#include "lang/any_dim.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/lowerable.h"
#include "lang/visit.h"
#include "opt/dims.h"
#include "opt/effect.h"
#include "opt/index_dependence.h"
#include "opt/may_fail.h"
#include "opt/passes.h"
#include "opt/values_apart.h"

// The algorithm: every compound node gets a scope, the lowest common ancestor of the scopes of its
// uses (parents are handled before children, so a node's scope is final when its children are
// looked at). Then one walk from the root emits each node into the block of its scope at its first
// use. Blocks of outer scopes are still open while inner ones are built, so a node shared between
// two branches lands in front of the `if`.

namespace relay::opt {

namespace build = lang::build;

using lang::as;
using lang::Binding;
using lang::cast;
using lang::Expr;
using lang::ExprKind;
using lang::ExprNode;
using lang::VariableRef;

namespace {

// Index notation whose bodies must run for a node to be evaluated.
using Nests = std::vector<const ExprNode*>;

struct Scope {
  Scope* parent = nullptr;
  int depth = 0;
  std::vector<Binding> block;
  const ExprNode* nest = nullptr;     // of the body of index notation: that
  const ExprNode* guarded = nullptr;  // of a node behind a test: that
  bool is_branch = false;             // of an `if` or a `match`
};

bool is_atom(const Expr& expr) { return is_nameless(expr); }

// The type with no elements along axes of unknown extent.
lang::Type least_type(const lang::Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    std::vector<lang::Type> fields;
    for (const auto& field : tuple->fields) fields.push_back(least_type(field));
    return lang::tuple_type(std::move(fields));
  }
  const auto& tensor = *as<lang::TensorType>(type);
  std::vector<lang::Dim> dims = tensor.shape.dims();
  for (auto& dim : dims) {
    if (dim.is_any()) dim = lang::Dim(0);
  }
  return lang::tensor_type(lang::Shape(std::move(dims)), tensor.dtype);
}

class Normaliser {
 public:
  explicit Normaliser(lang::Program* program) : effects_(program) {}
  Expr run(const Expr& root) {
    Scope* top = new_scope(nullptr);
    assign_scopes(root, top);
    return block_of(root, top);
  }
  // Does the result hold tests that the input did not, and zeros that are not normalised yet?
  bool has_tests() const { return has_tests_; }
  // The scatters of the input whose bodies no kernel computes. What the run has made of them counts
  // for nothing.
  const std::unordered_set<const ExprNode*>& to_split() const { return to_split_; }

 private:
  // --- scopes ---

  Scope* new_scope(Scope* parent) {
    scopes_.push_back({parent, parent ? parent->depth + 1 : 0, {}});
    return &scopes_.back();
  }

  // The scope opened by the `position`-th nested body of `node`.
  Scope* inner_scope(const ExprNode* node, std::size_t position, Scope* parent) {
    std::vector<Scope*>& scopes = inner_[node];
    if (scopes.size() <= position) scopes.resize(position + 1);
    if (!scopes[position]) scopes[position] = new_scope(parent);
    return scopes[position];
  }

  // Where a node lands, and what must have points for it to be evaluated there.
  struct Place {
    Scope* scope;
    Nests nests;
  };

  // Atoms have no scope.
  void contribute(const Expr& child, Scope* scope) { contribute(child, Place{scope, {}}); }
  void contribute(const Expr& child, Place place) {
    if (is_atom(child)) return;
    Scope*& known = scope_of_[child.get()];
    if (!known) {
      known = place.scope;
      if (!place.nests.empty()) nests_[child.get()] = std::move(place.nests);
      return;
    }
    if (known == place.scope && place.nests.empty()) {
      if (is_guarded(child.get())) nests_[child.get()] = {};
      return;
    }
    const Nests* const nests = nests_.find(child.get());
    Place before{known, nests ? *nests : Nests()};
    meet(before, place, child);
    known = before.scope;
    Nests both = of_either(before.nests, place.nests);
    if (nests || !both.empty()) nests_[child.get()] = std::move(both);
  }

  // What has points wherever one of two uses is evaluated: derivatives have loops of their own over
  // the same extents.
  static Nests of_either(const Nests& one, const Nests& other) {
    Nests both;
    for (const ExprNode* nest : one) {
      if (is_implied(nest, other)) both.push_back(nest);
    }
    for (const ExprNode* nest : other) {
      if (is_implied(nest, one) && !is_implied(nest, both)) both.push_back(nest);
    }
    return both;
  }
  // Does `nest` have points where all of `nests` do?
  static bool is_implied(const ExprNode* nest, const Nests& nests) {
    const auto is_extent_of = [](const Expr& extent, const ExprNode* other) {
      const auto& binders = *binders_of(other);
      return std::any_of(binders.begin(), binders.end(), [&](const lang::IndexBinder& binder) {
        return binder.extent == extent || (is_atom(extent) && is_atom(binder.extent) &&
                                           lang::alpha_equal(extent, binder.extent));
      });
    };
    const auto& binders = *binders_of(nest);
    return std::all_of(binders.begin(), binders.end(), [&](const lang::IndexBinder& binder) {
      return std::any_of(nests.begin(), nests.end(),
                         [&](const ExprNode* other) { return is_extent_of(binder.extent, other); });
    });
  }

  // Can it be evaluated behind a test, and should it?
  bool may_wait(const Expr& expr) {
    return expr->kind != ExprKind::Let && has_zeros(expr->type) && failures_.may_fail(expr) &&
           !effects_.is_bound_to_place(expr);
  }

  static bool contains(const Nests& nests, const ExprNode* nest) {
    return std::find(nests.begin(), nests.end(), nest) != nests.end();
  }
  static void add_to(Nests& nests, const ExprNode* nest) {
    if (!contains(nests, nest)) nests.push_back(nest);
  }

  // Takes both places of a node to the scope that encloses them.
  void meet(Place& a, Place& b, const Expr& child) {
    while (a.scope != b.scope) {
      Place& inner = a.scope->depth < b.scope->depth ? b : a;
      if ((inner.scope->nest || inner.scope->guarded) && may_wait(child)) leave(inner);
      inner.scope = inner.scope->parent;
    }
  }

  // Notes what else must have points outside of the place's scope.
  void leave(Place& place) {
    if (place.scope->guarded) add_guard(place.nests, place.scope->guarded);
    const ExprNode* nest = place.scope->nest;
    if (!nest) return;
    // There is no test of an extent that is known only further inside.
    std::erase_if(place.nests,
                  [&](const ExprNode* inner) { return !is_known_outside(inner, nest); });
    if (!failures_.has_points(*binders_of(nest))) add_to(place.nests, nest);
  }

  void add_guard(Nests& nests, const ExprNode* guarded) {
    if (const Nests* found = nests_.find(guarded)) {
      for (const ExprNode* nest : *found) add_to(nests, nest);
    }
  }

  // Are the extents of `nest` known outside of the bodies of `outer`?
  bool is_known_outside(const ExprNode* nest, const ExprNode* outer) {
    if (!outer) return true;
    const auto& binders = *binders_of(nest);
    return std::none_of(binders.begin(), binders.end(), [&](const lang::IndexBinder& binder) {
      return dependence_.depends(outer, binder.extent) || effects_.is_bound_to_place(binder.extent);
    });
  }

  void assign_scopes(const Expr& root, Scope* top) {
    std::vector<const Expr*> order;
    lang::visit_post_order(root, [&](const Expr& node) {
      if (!is_atom(node)) order.push_back(&node);
    });
    for (const Expr* node : order) {
      dependence_.look_at(*node);
      if (const auto* let = as<lang::Let>(*node)) define(*let);
    }
    contribute(root, top);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Scope* scope = *scope_of_.find((*it)->get());
      assign_children(**it, is_guarded((*it)->get()) ? guard_scope((*it)->get(), scope) : scope);
    }
  }

  void define(const lang::Let& let) {
    failures_.define(let.variable, let.value);
    effects_.define(let.variable, let.value);
    dependence_.define(let);
  }

  bool is_guarded(const ExprNode* node) const {
    const Nests* nests = nests_.find(node);
    return nests && !nests->empty();
  }

  // Behind the test of a node that lands in `scope`.
  Scope* guard_scope(const ExprNode* node, Scope* scope) {
    Scope*& made = guard_scopes_[node];
    if (!made) {
      made = new_scope(scope);
      made->guarded = node;
    }
    return made;
  }

  void assign_children(const Expr& node, Scope* scope) {
    switch (node->kind) {
      case ExprKind::Function:
        contribute(cast<lang::Function>(node).body, inner_scope(node.get(), 0, scope));
        return;
      case ExprKind::If: {
        const auto& branch = cast<lang::If>(node);
        contribute(branch.condition, leave_binders(branch.condition, scope));
        contribute_branch(branch.then_branch, inner_scope(node.get(), 0, scope));
        contribute_branch(branch.else_branch, inner_scope(node.get(), 1, scope));
        return;
      }
      case ExprKind::Match: {
        const auto& match = cast<lang::Match>(node);
        contribute(match.scrutinee, leave_binders(match.scrutinee, scope));
        for (std::size_t i = 0; i < match.clauses.size(); ++i) {
          contribute_branch(match.clauses[i].body, inner_scope(node.get(), i, scope));
        }
        return;
      }
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce: {
        if (lang::is_one_point(node)) break;
        for (const auto& binder : *binders_of(node))
          contribute(binder.extent, leave_binders(binder.extent, scope));
        if (const auto* scatter = as<lang::ScatterReduce>(node)) contribute(scatter->init, scope);
        Scope* body = inner_scope(node.get(), 0, scope);
        body->nest = node.get();
        for (const Expr& part : repeated_parts(node)) contribute(part, leave_binders(part, body));
        return;
      }
      default:
        break;
    }
    // A child that does not depend on the binders around its parent leaves their scopes.
    lang::for_each_child(
        node, [&](const Expr& child) { contribute(child, leave_binders(child, scope)); });
  }

  void contribute_branch(const Expr& branch, Scope* scope) {
    scope->is_branch = true;
    contribute(branch, dependence_.is_speculative(branch) ? leave_binders(branch, scope)
                                                          : Place{scope, {}});
  }

  // --- what leaves index notation ---

  // `scope` may be inside the bodies of index notation around the child; leaves those the child
  // does not depend on.
  Place leave_binders(const Expr& child, Scope* scope) {
    Place best{scope, {}};
    if (is_atom(child)) return best;
    Place at = best;
    while (true) {
      if (at.scope->guarded) {
        add_guard(at.nests, at.scope->guarded);
        at.scope = at.scope->parent;
        continue;
      }
      if (at.scope->is_branch && dependence_.is_speculative(child)) {
        Scope* const body = body_around(at.scope, child);
        if (!body) return best;
        at.scope = body;
      }
      const ExprNode* nest = at.scope->nest;
      if (!nest || dependence_.depends(nest, child) || effects_.is_bound_to_place(child))
        return best;
      if (failures_.may_fail(child)) {
        if (child->kind == ExprKind::Let || !may_be_guarded(child)) return best;
        for (const ExprNode* inner : at.nests) {
          if (!is_known_outside(inner, nest)) return best;
        }
        if (!failures_.has_points(*binders_of(nest))) add_to(at.nests, nest);
      } else {
        at.nests.clear();
      }
      at.scope = at.scope->parent;
      best = at;
    }
  }

  // The scope of the innermost body of index notation around a branch, where all that is mentioned
  // is known outside of it; else null.
  Scope* body_around(Scope* scope, const Expr& expr) const {
    while (scope && (scope->is_branch || scope->guarded)) scope = scope->parent;
    const bool may_leave = scope && scope->nest && dependence_.is_known_outside(scope->nest, expr);
    return may_leave ? scope : nullptr;
  }

  // --- emission ---

  // The normalised expression of `root` as the content of a fresh scope.
  Expr block_of(const Expr& root, Scope* scope) {
    const auto [rest, is_shared] = bind_chain(root, scope);
    Expr result = is_emitted(rest) || scope_of(rest, scope) != scope
                      ? atom_of(rest, scope, is_shared)
                      : value_of(rest, scope);
    if (is_same_block(root, scope->block, result)) return root;
    return lang::close_block({std::move(scope->block), std::move(result)});
  }

  static bool is_same_block(const Expr& root, const std::vector<Binding>& block,
                            const Expr& result) {
    const Expr* rest = &root;
    for (const Binding& binding : block) {
      const auto* let = as<lang::Let>(*rest);
      if (!let || !(let->variable == binding.variable) || !(let->value == binding.value))
        return false;
      rest = &let->body;
    }
    return *rest == result;
  }

  // What lies behind the lets, and whether there may be another way to it.
  std::pair<const Expr&, bool> bind_chain(const Expr& root, Scope* scope) {
    const Expr* rest = &root;
    bool is_shared = false;
    while (const auto* let = as<lang::Let>(*rest)) {
      is_shared = is_shared || !(*rest)->is_unique();
      bind(*let, scope, is_shared);
      rest = &let->body;
    }
    return {*rest, is_shared};
  }

  void bind(const lang::Let& let, Scope* scope, bool is_shared) {
    const Expr& value = let.value;
    if (is_atom(value) || is_emitted(value) || scope_of(value, scope) != scope ||
        value->kind == ExprKind::Let) {
      Expr atom = atom_of(value, scope, is_shared);
      aliases_[let.variable.get()] = std::move(atom);
      return;
    }
    Expr normal = value_of(value, scope);
    if (is_atom(normal)) {
      aliases_[let.variable.get()] = normal;
      return;
    }
    scope->block.push_back({let.variable, std::move(normal), let.span});
    if (is_shared || !value->is_unique())
      emitted_[value.get()] = lang::make_var(let.variable, value->span);
  }

  Scope* scope_of(const Expr& expr, Scope* fallback) {
    Scope* const* found = scope_of_.find(expr.get());
    return found ? *found : fallback;
  }
  bool is_emitted(const Expr& expr) { return emitted_.contains(expr.get()); }

  Expr resolve(const Expr& atom) {
    const auto* var = as<lang::Var>(atom);
    if (!var) return atom;
    const Expr* found = aliases_.find(var->variable.get());
    return found ? *found : atom;
  }

  // Nobody asks again for what has one owner, unless that owner is `is_shared`.
  Expr atom_of(const Expr& expr, Scope* current, bool is_shared = false) {
    if (is_atom(expr)) return resolve(expr);
    if (const Expr* found = emitted_.find(expr.get())) return *found;
    Scope* scope = scope_of(expr, current);
    Expr atom;
    if (expr->kind == ExprKind::Let) {  // a let in operand position: its bindings join the block
      const auto [rest, is_rest_shared] = bind_chain(expr, scope);
      atom = atom_of(rest, scope, is_shared || is_rest_shared);
    } else {
      Expr value = is_guarded(expr.get()) ? guarded_value(expr, scope) : value_of(expr, scope);
      if (is_atom(value)) {
        atom = value;
      } else {
        VariableRef variable = lang::make_variable("v", value->type, expr->span);
        scope->block.push_back({variable, std::move(value), expr->span});
        atom = lang::make_var(variable, expr->span);
      }
    }
    if (is_shared || !expr->is_unique()) emitted_[expr.get()] = atom;
    return atom;
  }

  // `if` there are points `{ it } else { zeros }`.
  Expr guarded_value(const Expr& expr, Scope* scope) {
    has_tests_ = true;
    Expr condition;
    for (const ExprNode* nest : *nests_.find(expr.get())) {
      for (const auto& binder : *binders_of(nest)) {
        Expr extent = atom_of(binder.extent, scope);
        const Expr zero = build::constant_int(as<lang::TensorType>(extent->type)->dtype.known(), 0);
        Expr test = named(build::op("greater", {std::move(extent), zero}), scope);
        condition = condition ? named(build::op("logical_and", {condition, test}), scope) : test;
      }
    }
    Scope* inside = guard_scope(expr.get(), scope);
    Expr value = value_of(expr, inside);
    return lang::make_if(std::move(condition),
                         lang::close_block({std::move(inside->block), std::move(value)}),
                         build::zeros_of(least_type(expr->type)), {}, expr->type);
  }

  static Expr named(Expr value, Scope* scope) {
    const VariableRef variable = lang::make_variable("v", value->type, {});
    scope->block.push_back({variable, std::move(value), {}});
    return lang::make_var(variable);
  }

  std::vector<Expr> atoms_of(const std::vector<Expr>& exprs, Scope* scope) {
    std::vector<Expr> atoms;
    atoms.reserve(exprs.size());
    for (const Expr& expr : exprs) atoms.push_back(atom_of(expr, scope));
    return atoms;
  }

  // The node itself with atoms for operands and normalised blocks for bodies.
  Expr value_of(const Expr& expr, Scope* scope) {
    switch (expr->kind) {
      case ExprKind::Tuple: {
        const auto& node = cast<lang::Tuple>(expr);
        auto fields = atoms_of(node.fields, scope);
        return fields == node.fields ? expr
                                     : lang::make_tuple(std::move(fields), expr->span, expr->type);
      }
      case ExprKind::Projection: {
        const auto& node = cast<lang::Projection>(expr);
        Expr tuple = atom_of(node.tuple, scope);
        return tuple == node.tuple
                   ? expr
                   : lang::make_projection(std::move(tuple), node.index, expr->span, expr->type);
      }
      case ExprKind::Let:
        return atom_of(expr, scope);
      case ExprKind::If: {
        const auto& node = cast<lang::If>(expr);
        Expr condition = atom_of(node.condition, scope);
        Expr then_branch = block_of(node.then_branch, inner_scope(expr.get(), 0, scope));
        Expr else_branch = block_of(node.else_branch, inner_scope(expr.get(), 1, scope));
        if (condition == node.condition && then_branch == node.then_branch &&
            else_branch == node.else_branch)
          return expr;
        return lang::make_if(std::move(condition), std::move(then_branch), std::move(else_branch),
                             expr->span, expr->type);
      }
      case ExprKind::Function: {
        const auto& node = cast<lang::Function>(expr);
        if (lang::is_group(expr)) return rename_free(expr);
        Expr body = block_of(node.body, inner_scope(expr.get(), 0, scope));
        if (body == node.body) return expr;
        return lang::make_function(node.params, node.result, std::move(body), node.type_params,
                                   node.attrs, expr->span, expr->type);
      }
      case ExprKind::Call: {
        const auto& node = cast<lang::Call>(expr);
        auto args = atoms_of(node.args, scope);
        Expr callee = lang::is_group(node.callee) ? node.callee : atom_of(node.callee, scope);
        // An operator that was a value, and is known now, is called at its defaults.
        const auto* op = lang::as<lang::Operator>(callee);
        lang::AttrsRef attrs = op && !node.attrs && !op->op->attrs.empty()
                                   ? lang::complete_attrs(*op->op, nullptr, expr->span)
                                   : node.attrs;
        if (args == node.args && callee == node.callee && attrs == node.attrs) return expr;
        return lang::make_call(std::move(callee), std::move(args), std::move(attrs), expr->span,
                               expr->type, node.algebra);
      }
      case ExprKind::Match:
        return match_value(expr, scope);
      case ExprKind::RefCreate: {
        Expr value = atom_of(cast<lang::RefCreate>(expr).value, scope);
        return value == cast<lang::RefCreate>(expr).value
                   ? expr
                   : lang::make_ref_create(std::move(value), expr->span, expr->type);
      }
      case ExprKind::RefRead: {
        Expr ref = atom_of(cast<lang::RefRead>(expr).ref, scope);
        return ref == cast<lang::RefRead>(expr).ref
                   ? expr
                   : lang::make_ref_read(std::move(ref), expr->span, expr->type);
      }
      case ExprKind::RefWrite: {
        const auto& node = cast<lang::RefWrite>(expr);
        Expr ref = atom_of(node.ref, scope);
        Expr value = atom_of(node.value, scope);
        return ref == node.ref && value == node.value
                   ? expr
                   : lang::make_ref_write(std::move(ref), std::move(value), expr->span, expr->type);
      }
      case ExprKind::Primitive: {
        const auto& node = cast<lang::Primitive>(expr);
        auto args = atoms_of(node.args, scope);
        return args == node.args ? expr
                                 : lang::make_primitive(node.prim, std::move(args), expr->span,
                                                        expr->type, node.algebra);
      }
      case ExprKind::Index: {
        const auto& node = cast<lang::Index>(expr);
        Expr tensor = atom_of(node.tensor, scope);
        auto indices = atoms_of(node.indices, scope);
        if (tensor == node.tensor && indices == node.indices) return expr;
        return lang::make_index(std::move(tensor), std::move(indices), node.in_bounds, expr->span,
                                expr->type);
      }
      case ExprKind::Differentiate: {
        const auto& node = cast<lang::Differentiate>(expr);
        Expr fn = atom_of(node.fn, scope);
        return fn == node.fn
                   ? expr
                   : lang::make_differentiate(node.mode, std::move(fn), expr->span, expr->type);
      }
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce:
        return index_notation_value(expr, scope);
      default:
        return resolve(expr);
    }
  }

  Expr match_value(const Expr& expr, Scope* scope) {
    const auto& node = cast<lang::Match>(expr);
    Expr scrutinee = atom_of(node.scrutinee, scope);
    bool changed = !(scrutinee == node.scrutinee);
    std::vector<lang::Clause> clauses;
    for (std::size_t i = 0; i < node.clauses.size(); ++i) {
      Expr body = block_of(node.clauses[i].body, inner_scope(expr.get(), i, scope));
      changed = changed || !(body == node.clauses[i].body);
      clauses.push_back({node.clauses[i].pattern, std::move(body)});
    }
    if (!changed) return expr;
    return lang::make_match(std::move(scrutinee), std::move(clauses), node.is_complete, expr->span,
                            expr->type);
  }

  // --- index notation ---

  Expr index_notation_value(const Expr& expr, Scope* scope) {
    if (lang::is_one_point(expr)) {
      const Expr init = atom_of(cast<lang::ScatterReduce>(expr).init, scope);
      return with_parts(expr, {}, init, atoms_of(repeated_parts(expr), scope));
    }
    std::vector<lang::IndexBinder> binders = *binders_of(expr);
    for (auto& binder : binders) binder.extent = atom_of(binder.extent, scope);
    Expr init;
    if (const auto* scatter = as<lang::ScatterReduce>(expr)) init = atom_of(scatter->init, scope);
    Scope* body_scope = inner_scope(expr.get(), 0, scope);
    std::vector<Expr> trees;
    for (const Expr& part : repeated_parts(expr)) trees.push_back(tree_of(part, body_scope));
    Expr tree = with_parts(expr, binders, init, trees);
    if (const auto* scatter = as<lang::ScatterReduce>(tree)) {
      if (!lang::has_lowerable_bodies(*scatter)) to_split_.insert(expr.get());
      return tree;
    }
    if (lang::is_scalar_notation(tree)) return tree;
    tree_memo_.clear();
    std::vector<Expr> blocks;
    for (const Expr& part : repeated_parts(expr)) blocks.push_back(block_of(part, body_scope));
    return with_parts(expr, binders, init, blocks);
  }

  Expr with_parts(const Expr& expr, const std::vector<lang::IndexBinder>& binders, const Expr& init,
                  std::vector<Expr> parts) {
    const auto same_binders = [&](const std::vector<lang::IndexBinder>& old) {
      for (std::size_t i = 0; i < old.size(); ++i) {
        if (!(old[i].extent == binders[i].extent)) return false;
      }
      return true;
    };
    if (const auto* node = as<lang::Comprehension>(expr)) {
      if (parts[0] == node->body && same_binders(node->binders)) return expr;
      return lang::make_comprehension(binders, parts[0], expr->span, expr->type);
    }
    if (const auto* node = as<lang::Reduction>(expr)) {
      if (parts[0] == node->body && same_binders(node->binders)) return expr;
      return lang::make_reduction(node->op, binders, parts[0], expr->span, expr->type);
    }
    const auto& node = cast<lang::ScatterReduce>(expr);
    Expr value = parts.back();
    parts.pop_back();
    if (value == node.value && parts == node.indices && init == node.init &&
        same_binders(node.binders))
      return expr;
    return lang::make_scatter_reduce(node.op, init, binders, std::move(parts), value, expr->span,
                                     expr->type, node.algebra);
  }

  // The body as a tree: what leaves the body's scope becomes an atom of an outer block, the rest
  // stays in place.
  Expr tree_of(const Expr& expr, Scope* body) {
    if (is_atom(expr)) return resolve(expr);
    if (const Expr* found = emitted_.find(expr.get())) return *found;
    if (const Expr* found = tree_memo_.find(expr.get())) return *found;
    Scope* own = scope_of(expr, body);
    if (own->depth < body->depth) return atom_of(expr, own, true);  // it may be asked for again
    Expr tree = rebuilt_tree(expr, body);
    tree_memo_[expr.get()] = tree;
    return tree;
  }

  Expr rebuilt_tree(const Expr& expr, Scope* body) {
    const auto trees = [&](const std::vector<Expr>& exprs) {
      std::vector<Expr> result;
      for (const Expr& each : exprs) result.push_back(tree_of(each, body));
      return result;
    };
    switch (expr->kind) {
      case ExprKind::Primitive:
        return lang::make_primitive(cast<lang::Primitive>(expr).prim,
                                    trees(cast<lang::Primitive>(expr).args), expr->span, expr->type,
                                    cast<lang::Primitive>(expr).algebra);
      case ExprKind::Tuple:
        return lang::make_tuple(trees(cast<lang::Tuple>(expr).fields), expr->span, expr->type);
      case ExprKind::Projection:
        return lang::make_projection(tree_of(cast<lang::Projection>(expr).tuple, body),
                                     cast<lang::Projection>(expr).index, expr->span, expr->type);
      case ExprKind::Call: {
        const auto& node = cast<lang::Call>(expr);
        return lang::make_call(tree_of(node.callee, body), trees(node.args), node.attrs, expr->span,
                               expr->type, node.algebra);
      }
      case ExprKind::Index: {
        const auto& node = cast<lang::Index>(expr);
        return lang::make_index(tree_of(node.tensor, body), trees(node.indices), node.in_bounds,
                                expr->span, expr->type);
      }
      case ExprKind::If: {
        const auto& node = cast<lang::If>(expr);
        return lang::make_if(tree_of(node.condition, body), tree_of(node.then_branch, body),
                             tree_of(node.else_branch, body), expr->span, expr->type);
      }
      case ExprKind::Let: {
        const auto& node = cast<lang::Let>(expr);
        Expr value = tree_of(node.value, body);
        if (is_atom(value)) {  // what has left the body may mention it
          aliases_[node.variable.get()] = std::move(value);
          return tree_of(node.body, body);
        }
        return lang::make_let(node.variable, std::move(value), tree_of(node.body, body), expr->span,
                              expr->type);
      }
      case ExprKind::Comprehension:
      case ExprKind::Reduction: {
        std::vector<lang::IndexBinder> binders = *binders_of(expr);
        for (auto& binder : binders) binder.extent = tree_of(binder.extent, body);
        std::vector<Expr> parts;
        for (const Expr& part : repeated_parts(expr)) parts.push_back(tree_of(part, body));
        return with_parts(expr, binders, nullptr, std::move(parts));
      }
      default:
        return rename_free(expr);
    }
  }

  // Replaces aliases inside an expression that is otherwise kept.
  Expr rename_free(const Expr& expr) {
    lang::Substitution substitution;
    for (const auto& variable : lang::free_variables(expr)) {
      if (const Expr* found = aliases_.find(variable.get())) substitution[variable.get()] = *found;
    }
    return substitution.empty() ? expr : lang::substitute(expr, substitution);
  }

  std::deque<Scope> scopes_;
  lang::PointerMap<ExprNode, Scope*> scope_of_;
  lang::PointerMap<ExprNode, std::vector<Scope*>> inner_;
  lang::PointerMap<ExprNode, Nests> nests_;  // of nodes behind a test: what must have points
  lang::PointerMap<ExprNode, Scope*> guard_scopes_;
  PureFailures failures_;
  Effects effects_;
  IndexDependence dependence_{failures_, effects_};
  std::unordered_set<const ExprNode*> to_split_;
  bool has_tests_ = false;
  lang::PointerMap<ExprNode, Expr> emitted_;
  lang::PointerMap<ExprNode, Expr> tree_memo_;
  lang::PointerMap<lang::Variable, Expr> aliases_;
};

}  // namespace

Expr to_anf(const Expr& expr, lang::Program* program) {
  const Expr resolved = resolve_dim_terms(expr);
  Normaliser normaliser(program);
  const Expr normal = normaliser.run(resolved);
  if (!normaliser.to_split().empty())
    return to_anf(with_values_apart(resolved, normaliser.to_split()), program);
  // Zeros have brought extents along.
  return normaliser.has_tests() ? Normaliser(program).run(resolve_dim_terms(normal)) : normal;
}

}  // namespace relay::opt
