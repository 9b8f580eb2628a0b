#include <algorithm>

#include "lang/build.h"
#include "lang/diagnostic.h"

namespace relay::lang::build {
namespace {

// The dims as attribute values; nothing when one is not constant.
std::optional<std::vector<std::int64_t>> constant_dims(const Shape& shape) {
  std::vector<std::int64_t> dims;
  for (const Dim& dim : shape.dims()) {
    if (!dim.is_constant()) return std::nullopt;
    dims.push_back(dim.constant());
  }
  return dims;
}

// A tensor of that type whose elements all have the bits of `value`.
Expr filled(const TensorType& type, double value, std::string_view op_name) {
  RELAY_CHECK(type.shape.has_rank() && type.dtype.is_known(),
              "a constant tensor needs a ground type");
  const DType dtype = type.dtype.known();
  if (type.shape.rank() == 0) return constant(dtype, value);
  if (const auto dims = constant_dims(type.shape)) {
    return op(op_name, {}, {{"shape", AttrValue::ints(*dims)}, {"dtype", dtype}});
  }
  for (const Dim& dim : type.shape.dims()) {
    if (!dim.is_any()) continue;
    fail(DiagnosticKind::Unsupported,
         "not supported: a gradient through a tensor with a dimension `?` that is "
         "not known before it runs");
  }
  return comprehension(type.shape.dims(), [&](const Indices&) { return constant(dtype, value); });
}

}  // namespace

Expr zeros_of(const Type& type) {
  if (const auto* tensor = as<TensorType>(type)) return filled(*tensor, 0, "zeros");
  const auto* tuple_type = as<TupleType>(type);
  RELAY_CHECK(tuple_type,
              "zeros of a type that is neither a tensor nor a tuple: " + to_string(type));
  std::vector<Expr> fields;
  for (const Type& field : tuple_type->fields) fields.push_back(zeros_of(field));
  return tuple(std::move(fields));
}

// Where the shape is known only at run time, the value itself says it.
Expr zeros_like(const Expr& value) {
  const auto* tensor = as<TensorType>(value->type);
  return tensor && !constant_dims(tensor->shape) ? op("zeros_like", {value})
                                                 : zeros_of(value->type);
}

Expr ones_like(const Expr& value) {
  const auto* tensor = as<TensorType>(value->type);
  RELAY_CHECK(tensor, "ones_like of something that is not a tensor");
  return constant_dims(tensor->shape) ? filled(*tensor, 1, "ones") : op("ones_like", {value});
}

Expr scalar_like(const Expr& like, double value) {
  const auto* tensor = as<TensorType>(like->type);
  RELAY_CHECK(tensor && tensor->dtype.is_known(),
              "scalar_like of something that is not a ground tensor");
  return constant(tensor->dtype.known(), value);
}

Expr sum_to(Expr adjoint, const Expr& target) {
  // Equal `?` dims may still hide an axis that was stretched.
  const auto* tensor = as<TensorType>(target->type);
  const bool hides = tensor && std::any_of(tensor->shape.dims().begin(), tensor->shape.dims().end(),
                                           [](const Dim& dim) { return dim.is_any(); });
  if (!hides && equal(adjoint->type, target->type)) return adjoint;
  return op("collapse_sum_like", {std::move(adjoint), target});
}

}  // namespace relay::lang::build
