#include "index/common_factors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "index/binder_use.h"
#include "index/scalar_work.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::DType;
using lang::Expr;
using lang::ExprNode;
using lang::Prim;
namespace build = lang::build;

namespace {

// A product or a quotient of floats whose reciprocals have a range to speak of.
std::optional<lang::ArithmeticStep> as_product(const Expr& expr) {
  const auto step = lang::arithmetic_step(expr);
  if (!step || (step->prim != Prim::Mul && step->prim != Prim::Div)) return std::nullopt;
  const auto* type = as<lang::TensorType>(expr->type);
  const DType dtype = type->dtype.known();
  if (dtype != DType::Float32 && dtype != DType::Float64) return std::nullopt;
  return step;
}

class CommonFactors final : public lang::Rewriter {
 public:
  explicit CommonFactors(const Expr& form) : use_(form) {
    lang::visit_post_order(form, [&](const Expr& node) {
      bool has_float = node->kind == lang::ExprKind::Index;
      if (const auto* var = as<lang::Var>(node)) has_float = !is_integer(var->variable->type);
      lang::for_each_child(node, [&](const Expr& child) {
        ++owners_[child.get()];
        has_float = has_float || reads_.contains(child.get());
      });
      if (has_float) reads_.insert(node.get());
    });
  }

  bool is_known() const { return use_.is_known(); }

 protected:
  Expr pre(const Expr& expr) override {
    if (!as_product(expr)) return nullptr;
    std::vector<Factor> factors;
    gather(expr, true, factors);
    const std::uint64_t all = use_.of(expr);
    const auto is_common_divisor = [&](const Factor& each) {
      return each.is_divisor && reads_.contains(each.expr.get()) && use_.are_many(all & ~each.used);
    };
    if (std::none_of(factors.begin(), factors.end(), is_common_divisor)) return nullptr;
    for (Factor& each : factors) {
      each.expr = rewrite(each.expr);
      if (each.is_divisor) each.expr = build::div(build::scalar_like(each.expr, 1), each.expr);
    }
    return product(std::move(factors));
  }

 private:
  struct Factor {
    Expr expr;
    std::uint64_t used;
    bool is_divisor;
  };

  static bool is_integer(const lang::Type& type) {
    const auto* tensor = as<lang::TensorType>(type);
    return tensor && tensor->dtype.is_known() && !lang::is_float(tensor->dtype.known());
  }

  void gather(const Expr& expr, bool is_root, std::vector<Factor>& factors) const {
    const auto node = as_product(expr);
    if (!node || (!is_root && owners_.at(expr.get()) > 1)) {
      factors.push_back({expr, use_.of(expr), false});
      return;
    }
    gather(node->args[0], false, factors);
    // A divisor stays whole: the reciprocals of its factors would be several divisions.
    if (node->prim == Prim::Mul) {
      gather(node->args[1], false, factors);
    } else {
      factors.push_back({node->args[1], use_.of(node->args[1]), true});
    }
  }

  // Those that depend on least first, each with the first that depends on all that it does.
  static Expr product(std::vector<Factor> factors) {
    std::stable_sort(factors.begin(), factors.end(), [](const Factor& a, const Factor& b) {
      return std::popcount(a.used) < std::popcount(b.used);
    });
    for (std::size_t i = 0; i + 1 < factors.size(); ++i) {
      const auto rest = factors.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      auto with = std::find_if(rest, factors.end(), [&](const Factor& other) {
        return (factors[i].used & ~other.used) == 0;
      });
      if (with == factors.end()) {
        with = rest;
        with->used |= factors[i].used;
      }
      with->expr = build::mul(with->expr, factors[i].expr);
    }
    return factors.back().expr;
  }

  BinderUse use_;
  std::unordered_map<const ExprNode*, int> owners_;
  std::unordered_set<const ExprNode*> reads_;  // those that read floats
};

// Of parts that are the same at many points, equal ones become one. Others stay apart: what two
// sides of a `select` have in common is no part of either.
class OneOfEach final : public lang::Rewriter {
 public:
  explicit OneOfEach(const Expr& form) : use_(form) {
    if (!use_.is_known()) return;
    std::uint64_t points = 0;
    if (const auto* nest = as<lang::Comprehension>(form)) points = use_.of(nest->binders);
    if (const auto* nest = as<lang::ScatterReduce>(form)) points = use_.of(nest->binders);
    ScalarWork work;
    std::map<std::vector<std::uintptr_t>, std::uintptr_t> known;
    std::unordered_map<const ExprNode*, std::uintptr_t> numbers;
    std::unordered_map<std::uintptr_t, Expr> first;
    lang::visit_post_order(form, [&](const Expr& node) {
      work.emplace(node.get(), scalar_work(node, work));
      std::vector<std::uintptr_t> key = key_of(node);
      lang::for_each_child(node,
                           [&](const Expr& child) { key.push_back(numbers.at(child.get())); });
      const auto number = known.emplace(std::move(key), known.size()).first->second;
      numbers.emplace(node.get(), number);
      if (work.at(node.get()) <= kKeptWork || !lang::arithmetic_step(node) ||
          !use_.are_many(points & ~use_.of(node)))
        return;
      const auto [place, is_new] = first.emplace(number, node);
      if (!is_new) equals_.emplace(node.get(), place->second);
    });
  }

 protected:
  Expr pre(const Expr& expr) override {
    const auto equal = equals_.find(expr.get());
    return equal == equals_.end() ? nullptr : rewrite(equal->second);
  }

 private:
  // Of what it is without its parts.
  static std::vector<std::uintptr_t> key_of(const Expr& node) {
    const auto of = [](const auto* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    const auto kind = static_cast<std::uintptr_t>(node->kind);
    if (const auto* var = as<lang::Var>(node)) return {kind, of(var->variable.get())};
    if (const auto* callee = as<lang::Operator>(node)) return {kind, of(callee->op)};
    if (const auto* index = as<lang::Index>(node)) return {kind, index->in_bounds ? 1U : 0U};
    const auto* type = as<lang::TensorType>(node->type);
    const auto step = lang::arithmetic_step(node);
    if (step && type && type->dtype.is_known())
      return {kind, static_cast<std::uintptr_t>(step->prim),
              static_cast<std::uintptr_t>(type->dtype.known())};
    if (const auto* constant = as<lang::Constant>(node); constant && lang::is_scalar(node->type))
      return {kind, static_cast<std::uintptr_t>(constant->value->dtype()),
              static_cast<std::uintptr_t>(constant->value->bits_at(0))};
    return {kind, of(node.get())};
  }

  BinderUse use_;
  std::unordered_map<const ExprNode*, Expr> equals_;  // the first of those that equal it
};

}  // namespace

Expr with_common_factors(const Expr& form) {
  CommonFactors factors(form);
  if (!factors.is_known()) return form;
  const Expr made = factors.rewrite(form);
  return OneOfEach(made).rewrite(made);
}

}  // namespace relay::index
