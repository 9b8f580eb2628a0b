#include "stdlib/ops/accumulate.h"

#include "stdlib/ops/formula.h"

namespace relay::stdlib {

namespace build = lang::build;

DType accumulator_of(DType dtype) {
  if (dtype == DType::Bool) return dtype;
  if (lang::is_float(dtype)) return lang::size_of(dtype) < 4 ? DType::Float32 : dtype;
  return lang::size_of(dtype) < 8 ? DType::Int64 : dtype;
}

Expr widened_scalar(const Expr& scalar) {
  return build::cast_to(accumulator_of(tensor_type_of(scalar).dtype.known()), scalar);
}

Expr widened(const Expr& tensor) {
  return as_dtype(tensor, accumulator_of(tensor_type_of(tensor).dtype.known()));
}

Expr as_dtype(const Expr& tensor, DType dtype) {
  if (tensor_type_of(tensor).dtype.known() == dtype) return tensor;
  return build::op("cast", {tensor}, {{"dtype", dtype}});
}

Expr over_count(const Expr& value, const Expr& tensor, const std::vector<bool>& axes, double less) {
  const DType dtype = tensor_type_of(value).dtype.known();
  Expr count = count_of(widened(tensor), axes);
  if (less != 0) count = count - less;
  return as_dtype(widened(value) / count, dtype);
}

}  // namespace relay::stdlib
