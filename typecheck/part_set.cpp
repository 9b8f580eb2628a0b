#include "typecheck/part_set.h"

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/op.h"
#include "typecheck/messages.h"

namespace relay::typecheck {

using namespace lang;

namespace {

const Dim& dim_at(const Expr& tensor, std::size_t axis) {
  return as<TensorType>(tensor->type)->shape[axis];
}

Expr extent_at(const Expr& tensor, std::size_t axis) {
  const Dim& dim = dim_at(tensor, axis);
  if (dim.is_constant()) return build::index_constant(dim.constant());
  if (!dim.is_any()) return make_dim_term(dim);
  return build::op("dim_of", {tensor}, {{"axis", static_cast<std::int64_t>(axis)}});
}

std::string extent_text(const Expr& tensor, const char* unnamed, std::size_t axis) {
  return fmt::format("dim_of({}, axis={})", quote(tensor->span, unnamed), axis);
}

// The extent, once running has told that both are the same.
Expr equal_extents(const Expr& a, const Expr& b, const std::string& equation, Span span) {
  const OpDef& op = OpRegistry::instance().get("check_dims");
  const Type index = scalar_type(DType::Int64);
  AttrsRef attrs =
      complete_attrs(op, make_attrs({{"equation", equation}, {"because", "`with`"}}), span);
  return make_call(make_operator(&op, span, function_type({index, index}, index)), {a, b},
                   std::move(attrs), span, index);
}

}  // namespace

Expr with_part(const Expr& tensor, std::vector<Expr> indices, const Expr& part, Span span) {
  std::vector<Binding> bindings;
  const auto named = [&](const Expr& value) {
    const VariableRef variable = make_variable("", value->type, value->span);
    bindings.push_back({variable, value, value->span});
    return make_var(variable, value->span);
  };
  const Expr whole = named(tensor);
  for (Expr& index : indices) index = named(index);
  const Expr row = named(part);
  const std::size_t first = indices.size();
  std::vector<IndexBinder> binders;
  std::vector<Expr> places;
  for (std::size_t axis = 0; axis < as<TensorType>(row->type)->shape.rank(); ++axis) {
    Expr extent = extent_at(row, axis);
    if (dim_at(row, axis).is_any() || dim_at(whole, first + axis).is_any())
      extent = equal_extents(
          extent, extent_at(whole, first + axis),
          extent_text(part, "value", axis) + " = " + extent_text(tensor, "tensor", first + axis),
          span);
    binders.push_back({make_variable("r", scalar_type(DType::Int64), span), named(extent)});
    places.push_back(make_var(binders.back().variable));
  }
  indices.insert(indices.end(), places.begin(), places.end());
  Expr value = make_index(row, std::move(places), true, span);
  Expr set = make_scatter_reduce(ReduceOp::Set, whole, std::move(binders), std::move(indices),
                                 std::move(value), span, whole->type);
  return close_block({std::move(bindings), std::move(set)});
}

}  // namespace relay::typecheck
