#include "ad/linear_transpose.h"

#include <fmt/format.h>

#include "ad/adjoint.h"
#include "ad/linearity.h"
#include "ad/reverse.h"
#include "index/linear_index.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/visit.h"

namespace relay::ad {

using index::extent_of_axis;
using lang::as;
using lang::Expr;
using lang::VariableRef;
namespace build = lang::build;

namespace {

Expr zeros_like_parameter(const lang::VariableRef& param, lang::Span span) {
  const auto& tensor = *as<lang::TensorType>(param->type);
  std::vector<lang::IndexBinder> binders;
  for (std::size_t axis = 0; axis < tensor.shape.rank(); ++axis) {
    const lang::Dim& dim = tensor.shape[axis];
    if (dim.is_any()) {
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported: `transpose` of a function whose argument `{}` has an "
                             "extent that is not known: `{}`",
                             param->name, lang::to_string(param->type)),
                 param->span ? param->span : span);
    }
    binders.push_back(
        {lang::make_variable("i", lang::scalar_type(lang::DType::Int64)), extent_of_axis(dim)});
  }
  const Expr zero = build::constant(tensor.dtype.known(), 0);
  return binders.empty() ? zero : lang::make_comprehension(binders, zero, {}, param->type);
}

}  // namespace

Expr linear_transpose(const lang::Function& given, lang::Program& program, Pairs& pairs) {
  demand_linear(lang::cast<lang::Function>(pairs.prepared(Expr(&given))), program, pairs);
  const Expr forward = derivative(given, lang::DiffMode::Vjp, program, pairs);
  Emitter code(pairs.tangents());
  std::vector<Expr> zeros;
  for (const VariableRef& param : given.params)
    zeros.push_back(code.emit("zero", zeros_like_parameter(param, given.span)));
  const Expr both = code.emit("both", code.body_at(lang::cast<lang::Function>(forward), zeros));
  const Expr pullback = code.emit("pullback", build::project(both, 1));
  const VariableRef adjoint = lang::make_variable("dy", given.body->type);
  const Expr result = code.emit("dx", build::call(pullback, {lang::make_var(adjoint)}));
  const Expr body = lang::close_block({code.take(), result});
  return lang::rename_bound(
      lang::make_function({adjoint}, body->type, body, {}, nullptr, given.span));
}

}  // namespace relay::ad
