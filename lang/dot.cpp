#include "lang/dot.h"

#include "lang/build.h"
#include "lang/visit.h"

namespace relay::lang {
namespace {

// The product of both fields of `pair`; normalised (ANF) where that is.
Expr product_of(const Expr& pair) {
  if (const auto* let = as<Let>(pair))
    return make_let(let->variable, let->value, product_of(let->body), pair->span);
  if (const auto* branch = as<If>(pair))
    return build::if_(branch->condition, product_of(branch->then_branch),
                      product_of(branch->else_branch));
  if (const auto* tuple = as<Tuple>(pair))
    return build::op("multiply", {tuple->fields[0], tuple->fields[1]});
  return build::let("pair", pair, [](const Expr& both) {
    return build::let("x", build::project(both, 0), [&](const Expr& x) {
      return build::let("y", build::project(both, 1), [&](const Expr& y) {
        return build::op("multiply", {x, y});
      });
    });
  });
}

class Sums : public Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    const auto* dot = as<Reduction>(expr);
    if (!dot || dot->op != ReduceOp::Dot) return expr;
    return make_reduction(ReduceOp::Sum, dot->binders, product_of(dot->body), expr->span,
                          expr->type);
  }
};

}  // namespace

Expr dots_as_sums(const Expr& expr) { return Sums().rewrite(expr); }

}  // namespace relay::lang
