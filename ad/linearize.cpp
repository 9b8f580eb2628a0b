#include "ad/linearize.h"

#include "ad/adjoint.h"
#include "ad/reverse.h"
#include "ad/tangent_parts.h"
#include "ad/tangent_value.h"
#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::Expr;
using lang::VariableRef;
namespace build = lang::build;

Expr linearize(const lang::Function& given, lang::Program& program, Pairs& pairs) {
  const Expr forward = derivative(given, lang::DiffMode::Vjp, program, pairs);
  const auto& function = lang::cast<lang::Function>(forward);
  Emitter code(pairs.tangents());
  const Expr both = code.emit("both", code.body_at(function, uses_of(function.params)));
  const Expr value = code.emit("value", build::project(both, 0));
  const Expr pullback = code.bound(code.emit("pullback", build::project(both, 1)));
  const Expr twice =
      derivative(lang::cast<lang::Function>(pullback), lang::DiffMode::Vjp, program, pairs);

  std::vector<VariableRef> directions;
  for (const VariableRef& param : function.params)
    directions.push_back(lang::make_variable("d" + param->name, param->type));
  const std::vector<Expr> uses = uses_of(directions);
  Emitter inner(pairs.tangents());
  const Expr direction = uses.size() == 1 ? uses[0] : inner.emit("d", build::tuple(uses));
  // A linear map has the same derivative everywhere. A gradient of one's own need not be linear:
  // then its derivative at an adjoint of zero is meant, as in forward mode (ad/own_gradient.h).
  Tangents& tangents = pairs.tangents();
  const Expr zero = TangentValue().value(tangents.or_unit(value->type), value, inner);
  const Expr at = inner.emit("zero", tangents.as_gradient(zero, value));
  const Expr again = inner.emit("again", inner.body_at(lang::cast<lang::Function>(twice), {at}));
  const Expr transposed = inner.emit("transposed", build::project(again, 1));
  const Expr tangent = inner.emit("dvalue", build::call(transposed, {direction}));
  const Expr linear = build::function(directions, lang::close_block({inner.take(), tangent}));
  const Expr result = build::tuple({value, code.emit("linear", linear)});
  const Expr body = lang::close_block({code.take(), result});
  return lang::rename_bound(
      lang::make_function(function.params, body->type, body, {}, nullptr, given.span));
}

}  // namespace relay::ad
