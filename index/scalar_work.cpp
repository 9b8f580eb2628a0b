#include "index/scalar_work.h"

#include <algorithm>

#include "lang/binders.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::Expr;
using lang::ExprKind;

namespace {

constexpr double kCheap = 1;
constexpr double kDear = 10;       // a division, a function of the mathematical library
constexpr double kMostTurns = 16;  // of a reduction that count

double own_work(const Expr& node) {
  switch (node->kind) {
    case ExprKind::Primitive:
    case ExprKind::Call: {
      const auto step = lang::arithmetic_step(node);
      return step && lang::is_cheap(step->prim) ? kCheap : kDear;
    }
    case ExprKind::Index:
      return kCheap;
    default:
      return 0;
  }
}

}  // namespace

double scalar_work(const Expr& node, const ScalarWork& known) {
  double work = own_work(node);
  lang::for_each_child(node, [&](const Expr& child) { work += known.at(child.get()); });
  const auto* reduction = lang::as<lang::Reduction>(node);
  if (!reduction) return work;
  return work *
         std::min(lang::number_of_points(reduction->binders).value_or(kMostTurns), kMostTurns);
}

double scalar_work(const Expr& expr) {
  ScalarWork known;
  lang::visit_post_order(
      expr, [&](const Expr& node) { known.emplace(node.get(), scalar_work(node, known)); });
  return known.at(expr.get());
}

}  // namespace relay::index
