#include "lang/any_dim.h"

#include <algorithm>

namespace relay::lang {

bool has_any_dim(const Type& type) {
  if (const auto* tuple = as<TupleType>(type))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), has_any_dim);
  const auto* tensor = as<TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return false;
  const auto& dims = tensor->shape.dims();
  return std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_any(); });
}

bool has_constant_extents(const Type& type) {
  if (const auto* tuple = as<TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), has_constant_extents);
  const auto* tensor = as<TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return false;
  const auto& dims = tensor->shape.dims();
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_constant(); });
}

}  // namespace relay::lang
