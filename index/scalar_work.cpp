#include "index/scalar_work.h"

#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::Expr;
using lang::ExprKind;

namespace {

constexpr double kCheap = 1;
constexpr double kDear = 10;       // a division, a function of the mathematical library
constexpr double kReduction = 16;  // times the work of its body

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
  return node->kind == ExprKind::Reduction ? kReduction * work : work;
}

double scalar_work(const Expr& expr) {
  ScalarWork known;
  lang::visit_post_order(
      expr, [&](const Expr& node) { known.emplace(node.get(), scalar_work(node, known)); });
  return known.at(expr.get());
}

}  // namespace relay::index
