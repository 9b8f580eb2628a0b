#include "ad/primitive_rules.h"

#include <numbers>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/diagnostic.h"

namespace relay::ad {

using lang::Expr;
using lang::Prim;
namespace build = lang::build;

namespace {

using build::add;
using build::div;
using build::mul;
using build::sub;

Expr neg(Expr x) { return build::prim(Prim::Neg, {std::move(x)}); }
Expr unary(Prim prim, Expr x) { return build::prim(prim, {std::move(x)}); }
Expr square(const Expr& x) { return mul(x, x); }
// a where `condition`, else 0.
Expr where(Expr condition, const Expr& a) {
  return build::select(std::move(condition), a, build::scalar_like(a, 0));
}

// d/dx of a unary primitive at x, with result y, times a; null: zero.
Expr unary_adjoint(Prim prim, const Expr& x, const Expr& y, const Expr& a) {
  switch (prim) {
    case Prim::Neg:
      return neg(a);
    case Prim::Abs:
      return mul(a, unary(Prim::Sign, x));
    case Prim::Sqrt:
      return div(a, mul(build::scalar_like(x, 2), y));
    case Prim::Rsqrt:
      return mul(a, mul(build::scalar_like(x, -0.5), div(y, x)));
    case Prim::Exp:
      return mul(a, y);
    case Prim::Expm1:
      return mul(a, add(y, build::scalar_like(x, 1)));
    case Prim::Log:
      return div(a, x);
    case Prim::Log1p:
      return div(a, add(x, build::scalar_like(x, 1)));
    case Prim::Log2:
      return div(a, mul(x, build::scalar_like(x, std::numbers::ln2)));
    case Prim::Log10:
      return div(a, mul(x, build::scalar_like(x, std::numbers::ln10)));
    case Prim::Sin:
      return mul(a, unary(Prim::Cos, x));
    case Prim::Cos:
      return neg(mul(a, unary(Prim::Sin, x)));
    case Prim::Tan:
      return mul(a, add(build::scalar_like(x, 1), square(y)));
    case Prim::Asin:
      return div(a, unary(Prim::Sqrt, sub(build::scalar_like(x, 1), square(x))));
    case Prim::Acos:
      return neg(div(a, unary(Prim::Sqrt, sub(build::scalar_like(x, 1), square(x)))));
    case Prim::Atan:
      return div(a, add(build::scalar_like(x, 1), square(x)));
    case Prim::Sinh:
      return mul(a, unary(Prim::Cosh, x));
    case Prim::Cosh:
      return mul(a, unary(Prim::Sinh, x));
    case Prim::Tanh:
      return mul(a, sub(build::scalar_like(x, 1), square(y)));
    case Prim::Asinh:
      return div(a, unary(Prim::Sqrt, add(square(x), build::scalar_like(x, 1))));
    case Prim::Acosh:
      return div(a, unary(Prim::Sqrt, sub(square(x), build::scalar_like(x, 1))));
    case Prim::Atanh:
      return div(a, sub(build::scalar_like(x, 1), square(x)));
    case Prim::Sigmoid:
      return mul(a, mul(y, sub(build::scalar_like(x, 1), y)));
    case Prim::Erf:
      return mul(a, mul(build::scalar_like(x, 2 * std::numbers::inv_sqrtpi),
                        unary(Prim::Exp, neg(square(x)))));
    default:
      return nullptr;  // sign, floor, ceil, trunc, round: piecewise constant
  }
}

}  // namespace

std::vector<Expr> primitive_adjoints(const lang::Primitive& node, const Expr& out, const Expr& a) {
  const auto& args = node.args;
  if (args.size() == 1 && node.prim != Prim::Cast)
    return {unary_adjoint(node.prim, args[0], out, a)};
  switch (node.prim) {
    case Prim::Add:
      return {a, a};
    case Prim::Sub:
      return {a, neg(a)};
    case Prim::Mul:
      return {mul(a, args[1]), mul(a, args[0])};
    case Prim::Div:
      return {div(a, args[1]), neg(mul(a, div(out, args[1])))};
    case Prim::Pow: {
      const Expr less =
          build::prim(Prim::Pow, {args[0], sub(args[1], build::scalar_like(args[1], 1))});
      // x^y log x is 0 where x = 0, so that the derivative in y stays finite there.
      const Expr is_zero = build::prim(Prim::Eq, {args[0], build::scalar_like(args[0], 0)});
      const Expr log =
          build::select(is_zero, build::scalar_like(args[0], 0), unary(Prim::Log, args[0]));
      return {mul(a, mul(args[1], less)), mul(a, mul(out, log))};
    }
    case Prim::Mod:
      return {a, neg(mul(a, unary(Prim::Trunc, div(args[0], args[1]))))};
    case Prim::FloorMod:
      return {a, neg(mul(a, unary(Prim::Floor, div(args[0], args[1]))))};
    case Prim::FloorDiv:
      return {nullptr, nullptr};
    case Prim::Max: {  // at a tie the left operand gets all
      const Expr left = build::prim(Prim::Ge, {args[0], args[1]});
      return {where(left, a), build::select(left, build::scalar_like(a, 0), a)};
    }
    case Prim::Min: {
      const Expr left = build::prim(Prim::Le, {args[0], args[1]});
      return {where(left, a), build::select(left, build::scalar_like(a, 0), a)};
    }
    case Prim::Select:
      return {nullptr, where(args[0], a), build::select(args[0], build::scalar_like(a, 0), a)};
    case Prim::Cast: {
      const auto from = lang::as<lang::TensorType>(args[0]->type)->dtype.known();
      return {lang::is_float(from) ? build::cast_to(from, a) : Expr()};
    }
    default:
      break;
  }
  lang::fail(lang::DiagnosticKind::NotDifferentiable,
             fmt::format("the primitive `{}` has no derivative", info(node.prim).text), node.span);
}

}  // namespace relay::ad
