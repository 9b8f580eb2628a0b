#include "index/conditions.h"

#include "lang/build.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::Prim;
namespace build = lang::build;

Expr TakenSide::kept(const Expr& value) const {
  if (!condition) return value;
  const Expr zero = build::constant(as<lang::TensorType>(value->type)->dtype.known(), 0);
  return build::select(condition, holds ? value : zero, holds ? zero : value);
}

TakenSide without_negation(TakenSide side) {
  while (const auto* negation = as<lang::Primitive>(side.condition)) {
    if (negation->prim != Prim::Not) break;
    const Expr inner = negation->args[0];
    side = {inner, !side.holds};
  }
  return side;
}

Expr both(const Expr& so_far, const Expr& condition) {
  return so_far ? build::prim(Prim::And, {so_far, condition}) : condition;
}

Expr is_between(const Expr& index, const Expr& extent) {
  return both(build::prim(Prim::Ge, {index, build::index_constant(0)}),
              build::prim(Prim::Lt, {index, extent}));
}

}  // namespace relay::index
