#include "ad/index_tangent.h"

#include <unordered_map>
#include <utility>

#include "ad/primal.h"
#include "ad/primitive_rules.h"
#include "ad/reduce_adjoint.h"
#include "index/scalar_form.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using index::scalar_form;
using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::IndexBinder;
using lang::Prim;
using lang::ReduceOp;
using lang::VariableRef;
namespace build = lang::build;

namespace {

bool is_float_scalar(const Expr& expr) {
  return lang::is_scalar(expr->type) &&
         lang::is_float(as<lang::TensorType>(expr->type)->dtype.known());
}

Expr equal(const Expr& a, const Expr& b) { return build::prim(Prim::Eq, {a, b}); }
Expr or_zero(const Expr& tangent, const Expr& like) {
  return tangent ? tangent : build::scalar_like(like, 0);
}
Expr sum_of(const Expr& a, const Expr& b) {
  if (!a) return b;
  return b ? build::add(a, b) : a;
}

// The tangent of scalar code below the binders of `domain`.
class Walker {
 public:
  // `form`: what holds all of that code.
  Walker(const Expr& form, const std::function<Expr(const VariableRef&)>& tangent_of, Emitter& code)
      : tangent_of_(tangent_of), code_(code), primal_(form, code) {}

  // What follows stands below these binders.
  void enter(const std::vector<IndexBinder>& binders) {
    domain.insert(domain.end(), binders.begin(), binders.end());
    primal_.add_binders(binders);
  }

  // `value`: where it can be read; null: it is computed again.
  Expr tangent(const Expr& expr, const Expr& value) {
    if (!is_float_scalar(expr)) return nullptr;
    const auto found = memo_.find(expr.get());
    if (found != memo_.end()) return found->second;
    Expr result = tangent_at(expr, value);
    memo_.emplace(expr.get(), result);
    return result;
  }

  Expr of_scatter(const lang::ScatterReduce& node, const Expr& out);

  std::vector<IndexBinder> domain;

 private:
  Expr tangent_at(const Expr& expr, const Expr& value) {
    switch (expr->kind) {
      case ExprKind::Var:
        return tangent_of_(lang::cast<lang::Var>(expr).variable);
      case ExprKind::Index: {
        const auto& index = lang::cast<lang::Index>(expr);
        const auto* var = as<lang::Var>(index.tensor);
        const Expr tangent = var ? tangent_of_(var->variable) : Expr();
        if (!tangent) return nullptr;
        std::vector<Expr> indices;
        for (const Expr& each : index.indices) indices.push_back(primal_.rewrite(each));
        return lang::make_index(tangent, std::move(indices), index.in_bounds, expr->span,
                                expr->type);
      }
      case ExprKind::Primitive:
        return of_primitive(lang::cast<lang::Primitive>(expr), value);
      case ExprKind::Call:
        return of_call(expr, value);
      case ExprKind::Reduction:
        return of_reduction(expr);
      default:
        return nullptr;
    }
  }

  Expr of_primitive(const lang::Primitive& node, const Expr& value) {
    std::vector<Expr> tangents;
    bool is_zero = true;
    for (const Expr& arg : node.args) {
      tangents.push_back(tangent(arg, nullptr));
      is_zero = is_zero && !tangents.back();
    }
    if (is_zero) return nullptr;
    const auto at = [&](std::size_t i) { return primal_.rewrite(node.args[i]); };
    const auto one_of_last_two = [&](const Expr& condition) {
      const std::size_t last = node.args.size() - 1;
      const Expr like(&node);
      return build::select(condition, or_zero(tangents[last - 1], like),
                           or_zero(tangents[last], like));
    };
    switch (node.prim) {
      case Prim::Sub:
        if (tangents[0] && tangents[1]) return build::sub(tangents[0], tangents[1]);
        break;
      case Prim::Mul:
        return sum_of(tangents[0] ? build::mul(tangents[0], at(1)) : Expr(),
                      tangents[1] ? build::mul(at(0), tangents[1]) : Expr());
      case Prim::Cast:
        return build::cast_to(as<lang::TensorType>(node.type)->dtype.known(), tangents[0]);
      case Prim::Select:
        return one_of_last_two(at(0));
      case Prim::Max:
        return one_of_last_two(build::prim(Prim::Ge, {at(0), at(1)}));
      case Prim::Min:
        return one_of_last_two(build::prim(Prim::Le, {at(0), at(1)}));
      default:
        break;
    }
    std::vector<Expr> args;
    for (std::size_t i = 0; i < node.args.size(); ++i) args.push_back(at(i));
    const Expr copy = lang::make_primitive(node.prim, args, node.span, node.type, node.algebra);
    const Expr result = value ? value : copy;
    Expr sum;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (!tangents[i]) continue;
      sum = sum_of(sum,
                   primitive_adjoints(lang::cast<lang::Primitive>(copy), result, tangents[i])[i]);
    }
    return sum;
  }

  // An operator on scalars with a gradient of its own, which says the partial derivatives; or with
  // none.
  Expr of_call(const Expr& expr, const Expr& value) {
    const auto& node = lang::cast<lang::Call>(expr);
    const lang::OpDef& op = *lang::cast<lang::Operator>(node.callee).op;
    if (!op.differentiable) return nullptr;
    lang::Substitution values;
    const auto named = [&](const Expr& of) {
      const VariableRef variable = lang::make_variable("x", of->type);
      values.emplace(variable.get(), of);
      return lang::make_var(variable);
    };
    lang::GradientCall rule{{}, node.attrs, named(value ? value : primal_.rewrite(expr)), nullptr};
    for (const Expr& arg : node.args) rule.args.push_back(named(primal_.rewrite(arg)));
    Expr sum;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      const Expr inner = tangent(node.args[i], nullptr);
      if (!inner) continue;
      rule.dout = named(inner);
      const std::vector<Expr> parts = op.gradient(rule);
      if (i < parts.size() && parts[i])
        sum = sum_of(sum, lang::substitute(scalar_form(parts[i]), values));
    }
    return sum;
  }

  Expr of_reduction(const Expr& expr) {
    const auto& node = lang::cast<lang::Reduction>(expr);
    const std::vector<IndexBinder> outer = domain;
    enter(node.binders);
    Expr term = tangent(node.body, nullptr);
    if (term && node.op != ReduceOp::Sum) {
      const Expr element = primal_.where_needed(expr, primal_.rewrite(node.body));
      term = element_adjoint(node.op, element, outer, node.binders,
                             primal_.where_needed(expr, term), code_);
    }
    domain = outer;
    if (!term) return nullptr;
    return lang::make_reduction(ReduceOp::Sum, node.binders, std::move(term), node.span, node.type);
  }

  const std::function<Expr(const VariableRef&)>& tangent_of_;
  Emitter& code_;
  Primal primal_;
  std::unordered_map<const lang::ExprNode*, Expr> memo_;  // of nodes of the form
};

Expr Walker::of_scatter(const lang::ScatterReduce& node, const Expr& out) {
  const auto* var = as<lang::Var>(node.init);
  const Expr init = var ? tangent_of_(var->variable) : Expr();
  enter(node.binders);
  const Expr inner = tangent(node.value, nullptr);
  if (!inner && node.op == ReduceOp::Sum) return init;
  if (!inner && !init) return nullptr;
  std::vector<Expr> indices;
  for (const Expr& index : node.indices) indices.push_back(primal_.rewrite(index));
  const Expr zeros = build::zeros_like(node.init);
  const auto scatter = [&](ReduceOp op, const Expr& start, const Expr& value) {
    const Expr first = code_.emit("init", start);
    return code_.emit("d", lang::rename_bound(lang::make_scatter_reduce(
                               op, first, node.binders, indices, value, node.span, node.type)));
  };
  const Expr own = init ? init : zeros;
  if (node.op == ReduceOp::Sum) return scatter(ReduceOp::Sum, own, inner);
  if (node.op == ReduceOp::Set)
    return scatter(ReduceOp::Set, own, or_zero(inner, primal_.rewrite(node.value)));
  const Expr value = primal_.rewrite(node.value);
  const Expr one = build::scalar_like(value, 1);
  const Expr zero = build::scalar_like(value, 0);
  const Expr change = or_zero(inner, value);
  const auto where = [](const Expr& condition, const Expr& a, const Expr& b) {
    return build::op("where", {condition, a, b});
  };
  const auto are_equal = [](const Expr& a, const Expr& b) { return build::op("equal", {a, b}); };
  const Expr ones = build::ones_like(node.init);
  if (node.op != ReduceOp::Prod) {  // shared among equal extremes
    const Expr is_extreme = equal(value, build::at(out, indices));
    const Expr is_init = are_equal(node.init, out);
    const Expr total =
        scatter(ReduceOp::Sum, where(is_init, own, zeros), build::select(is_extreme, change, zero));
    const Expr count =
        scatter(ReduceOp::Sum, where(is_init, ones, zeros), build::select(is_extreme, one, zero));
    return build::op("divide", {total, count});
  }
  // The product of the factors that are not zero, and how many are.
  const Expr is_zero = are_equal(node.init, zeros);
  const Expr product = scatter(ReduceOp::Prod, where(is_zero, ones, node.init),
                               build::select(equal(value, zero), one, value));
  const Expr zero_count = scatter(ReduceOp::Sum, where(is_zero, ones, zeros),
                                  build::select(equal(value, zero), one, zero));
  const Expr factor = build::at(product, indices);
  const Expr count = build::at(zero_count, indices);
  const Expr by_value =
      build::select(equal(value, zero), build::select(equal(count, one), factor, zero),
                    build::select(equal(count, zero), build::div(factor, value), zero));
  const Expr by_init =
      where(is_zero, where(are_equal(zero_count, ones), product, zeros),
            where(are_equal(zero_count, zeros), build::op("divide", {product, node.init}), zeros));
  return scatter(ReduceOp::Sum, build::op("multiply", {own, by_init}),
                 build::mul(change, by_value));
}

}  // namespace

std::vector<Expr> tangents_of_arithmetic(const Expr& form, const Expr& out,
                                         const std::function<Expr(const VariableRef&)>& tangent_of,
                                         Emitter& code) {
  Walker walker(form, tangent_of, code);
  if (const auto* scatter = as<lang::ScatterReduce>(form))
    return {walker.of_scatter(*scatter, out)};
  if (const auto* index = as<lang::Index>(form)) {
    const auto* var = as<lang::Var>(index->tensor);
    const Expr tangent = var ? tangent_of(var->variable) : Expr();
    if (!tangent) return {nullptr};
    return {lang::make_index(tangent, index->indices, index->in_bounds, form->span, form->type)};
  }
  const auto* comprehension = as<lang::Comprehension>(form);
  if (!comprehension) {
    const Expr tangent = walker.tangent(form, out);
    return {tangent ? lang::rename_bound(tangent) : tangent};
  }
  walker.enter(comprehension->binders);
  const auto* tuple = as<lang::Tuple>(comprehension->body);
  const std::vector<Expr> bodies = tuple ? tuple->fields : std::vector{comprehension->body};
  std::vector<Expr> tangents;
  for (std::uint32_t i = 0; i < bodies.size(); ++i) {
    const Expr whole = tuple ? code.emit("part", build::project(out, i)) : out;
    const Expr body = walker.tangent(bodies[i], build::at(whole, uses_of(walker.domain)));
    tangents.push_back(body ? lang::rename_bound(lang::make_comprehension(
                                  comprehension->binders, body, form->span, whole->type))
                            : Expr());
  }
  return tangents;
}

}  // namespace relay::ad
