#include <vector>

#include "lang/build.h"
#include "lang/op.h"
#include "opt/definitions.h"

// Sums that bring an adjoint back to the shape of what was broadcast: factors that are the same for
// all terms leave the sum, `sum(x * c)` becomes `sum(x) * c`, where it may be regrouped. What
// leaves is not multiplied at every element, and sums that differ in such factors only become one.

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

constexpr std::size_t kMostFactors = 16;

const lang::Shape& shape_of(const Expr& tensor) {
  return as<lang::TensorType>(tensor->type)->shape;
}

class CollapsedSum {
 public:
  CollapsedSum(const Expr& expr, const Rules& rules)
      : expr_(expr),
        call_(lang::cast<lang::Call>(expr)),
        rules_(rules),
        definitions_(rules.definitions) {}

  Expr run() {
    if (!rules_.may_regroup(expr_) || !has_known_shape(call_.args[0]) ||
        !has_known_shape(call_.args[1]))
      return nullptr;
    collect(call_.args[0]);
    if (constant_.empty() && divisors_.empty() && !is_negative_) return nullptr;
    if (varying_.empty()) return nullptr;
    Expr product = varying_[0];
    for (std::size_t i = 1; i < varying_.size(); ++i)
      product = build::op("multiply", {product, varying_[i]});
    if (!same_type(product, call_.args[0])) return nullptr;
    Expr sum = build::op("collapse_sum_like", {product, call_.args[1]});
    for (const Expr& factor : constant_) sum = build::op("multiply", {sum, factor});
    for (const Expr& divisor : divisors_) sum = build::op("divide", {sum, divisor});
    if (is_negative_) sum = build::op("negative", {sum});
    return same_type(sum, expr_) ? sum : Expr();
  }

 private:
  // The factors of a product, in their order.
  void collect(const Expr& atom) {
    const bool is_full = varying_.size() + constant_.size() >= kMostFactors;
    if (is_constant(atom)) {
      constant_.push_back(atom);
    } else if (const auto* product =
                   is_full ? nullptr : definitions_.call_of(atom, known::multiply)) {
      collect(product->args[0]);
      collect(product->args[1]);
    } else if (const auto* quotient = definitions_.call_of(atom, known::divide);
               quotient && is_constant(quotient->args[1])) {
      divisors_.push_back(quotient->args[1]);
      collect(quotient->args[0]);
    } else if (const auto* negative = definitions_.call_of(atom, known::negative)) {
      is_negative_ = !is_negative_;
      collect(negative->args[0]);
    } else {
      varying_.push_back(atom);
    }
  }

  // Is it the same for all terms of each sum? Then it has extents only where nothing is summed.
  bool is_constant(const Expr& factor) const {
    if (!has_known_shape(factor)) return false;
    const lang::Shape& from = shape_of(call_.args[0]);
    const lang::Shape& to = shape_of(call_.args[1]);
    const lang::Shape& shape = shape_of(factor);
    if (shape.rank() > to.rank()) return false;
    for (std::size_t i = 1; i <= shape.rank(); ++i) {
      const lang::Dim& extent = shape[shape.rank() - i];
      const bool is_kept = to[to.rank() - i] == from[from.rank() - i];
      if (!is_kept && !(extent == lang::Dim(1))) return false;
    }
    return true;
  }

  const Expr& expr_;
  const lang::Call& call_;
  const Rules& rules_;
  const Definitions& definitions_;
  std::vector<Expr> varying_, constant_, divisors_;
  bool is_negative_ = false;
};

}  // namespace

Expr simplified_collapse(const Expr& expr, const Rules& rules) {
  return CollapsedSum(expr, rules).run();
}

// The sum of zeros is another zero than that of their negatives.
Expr simplified_sum(const Expr& expr, const Rules& rules) {
  const auto& call = lang::cast<lang::Call>(expr);
  if (!known::sum.is(*lang::cast<lang::Operator>(call.callee).op) || !rules.may_regroup(expr))
    return nullptr;
  const auto* inner = rules.definitions.call_of(call.args[0], known::negative);
  if (!inner) return nullptr;
  const Expr sum =
      lang::make_call(call.callee, {inner->args[0]}, call.attrs, expr->span, expr->type);
  return build::op("negative", {sum});
}

}  // namespace relay::opt
