#include "ad/scatter_adjoint.h"

#include "ad/reduce_adjoint.h"
#include "index/linear_index.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using index::extent_of_axis;
using lang::as;
using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
using lang::ReduceOp;
namespace build = lang::build;

namespace {

Expr made_again(const lang::ScatterReduce& scatter, ReduceOp op, const Expr& init,
                const Expr& value) {
  return lang::rename_bound(lang::make_scatter_reduce(op, init, scatter.binders, scatter.indices,
                                                      value, scatter.span, init->type));
}

// Where an `if` guards the scatter it guards this read, which is checked as the scatter is.
Expr at_place(const lang::ScatterReduce& scatter, const Expr& tensor) {
  return build::checked_at(tensor, scatter.indices);
}

ScatterAdjoint extreme_adjoint(const lang::ScatterReduce& scatter, const Expr& adjoint,
                               Emitter& code) {
  const std::vector<IndexBinder> axes = binders_over(scatter.init, 0, code);
  const std::vector<Expr> place = uses_of(axes);
  const Expr out =
      code.emit("extreme", made_again(scatter, scatter.op, scatter.init, scatter.value));
  const Expr zero = build::scalar_like(scatter.value, 0);
  const Expr one = build::scalar_like(scatter.value, 1);
  const Expr is_init =
      build::prim(Prim::Eq, {build::at(scatter.init, place), build::at(out, place)});
  // An adjoint may stand under the binders of the value's own reductions.
  const Expr value = lang::rename_bound(scatter.value);
  const Expr is_value = build::prim(Prim::Eq, {value, at_place(scatter, out)});
  const Expr own = tabulated("own", axes, build::select(is_init, one, zero), code);
  const Expr ties = code.emit(
      "ties", made_again(scatter, ReduceOp::Sum, own, build::select(is_value, one, zero)));
  const Expr share =
      tabulated("share", axes, build::div(build::at(adjoint, place), build::at(ties, place)), code);
  return {tabulated("kept", axes, build::select(is_init, build::at(share, place), zero), code),
          build::select(is_value, at_place(scatter, share), zero)};
}

// The row-major position of an element of `tensor`.
Expr linear(const Expr& tensor, const std::vector<Expr>& indices, Emitter& code) {
  const std::vector<IndexBinder> axes = binders_over(tensor, 0, code);
  Expr position = build::index_constant(0);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    position = build::add(build::mul(position, axes[axis].extent),
                          build::cast_to(lang::DType::Int64, indices[axis]));
  }
  return position;
}

ScatterAdjoint product_adjoint(const lang::ScatterReduce& scatter, const Expr& adjoint,
                               Emitter& code) {
  const std::vector<IndexBinder> axes = binders_over(scatter.init, 0, code);
  const std::vector<Expr> place = uses_of(axes);
  const Expr ones = tabulated("ones", axes, build::scalar_like(scatter.value, 1), code);
  const Expr factor = code.emit("factor", made_again(scatter, ReduceOp::Prod, ones, scatter.value));
  const Expr kept = tabulated(
      "kept", axes, build::mul(build::at(adjoint, place), build::at(factor, place)), code);
  const Expr before = build::mul(at_place(scatter, adjoint), at_place(scatter, scatter.init));
  if (scatter.binders.empty()) return {kept, before};
  const auto row = [&](const Expr& table) {
    return code.emit("row",
                     build::op("reshape", {table}, {{"newshape", lang::AttrValue::ints({-1})}}));
  };
  const Expr values = tabulated("values", scatter.binders, scatter.value, code);
  const Expr places =
      tabulated("places", scatter.binders, linear(scatter.init, scatter.indices, code), code);
  const Expr others =
      code.emit("others", build::op("product_of_others_at", {row(values), row(places)}));
  const Expr back = code.emit("others", build::op("reshape_like", {others, values}));
  return {kept, build::mul(before, build::at(back, uses_of(scatter.binders)))};
}

// What is replaced has no influence. Of several points at one place only the last one has.
ScatterAdjoint set_adjoint(const lang::ScatterReduce& scatter, const Expr& adjoint, Emitter& code) {
  const Expr zero = build::scalar_like(scatter.value, 0);
  if (scatter.binders.empty()) {  // read before it is replaced, in place
    const Expr value = code.emit("value", at_place(scatter, adjoint));
    return {code.emit("kept", made_again(scatter, ReduceOp::Set, adjoint, zero)), value};
  }
  const std::vector<IndexBinder> axes = binders_over(scatter.init, 0, code);
  const Expr none = tabulated("none", axes, build::index_constant(-1), code);
  Expr point = build::index_constant(0);
  for (const IndexBinder& binder : scatter.binders)
    point = build::add(build::mul(point, build::cast_to(lang::DType::Int64, binder.extent)),
                       lang::make_var(binder.variable));
  const Expr last = code.emit("last", made_again(scatter, ReduceOp::Set, none, point));
  const Expr is_last = build::prim(Prim::Eq, {at_place(scatter, last), point});
  return {code.emit("kept", made_again(scatter, ReduceOp::Set, adjoint, zero)),
          build::select(is_last, at_place(scatter, adjoint), zero)};
}

}  // namespace

std::vector<IndexBinder> binders_over(const Expr& tensor, std::size_t first, Emitter& code) {
  const auto& dims = as<lang::TensorType>(tensor->type)->shape.dims();
  std::vector<IndexBinder> binders;
  for (std::size_t axis = first; axis < dims.size(); ++axis) {
    Expr extent = dims[axis].is_any()
                      ? build::op("dim_of", {tensor}, {{"axis", static_cast<std::int64_t>(axis)}})
                      : extent_of_axis(dims[axis]);
    binders.push_back({lang::make_variable("r", lang::scalar_type(lang::DType::Int64)),
                       code.emit("extent", std::move(extent))});
  }
  return binders;
}

ScatterAdjoint scatter_adjoint(const lang::ScatterReduce& scatter, const Expr& adjoint,
                               Emitter& code) {
  switch (scatter.op) {
    case ReduceOp::Max:
    case ReduceOp::Min:
      return extreme_adjoint(scatter, adjoint, code);
    case ReduceOp::Prod:
      return product_adjoint(scatter, adjoint, code);
    case ReduceOp::Set:
      return set_adjoint(scatter, adjoint, code);
    default:
      return {adjoint, at_place(scatter, adjoint)};
  }
}

}  // namespace relay::ad
