#include "lang/match_dims.h"

#include <algorithm>
#include <vector>

namespace relay::lang {

void match_dims(const Type& own, const Type& actual, TypeSubstitution& dims) {
  const auto each = [&](const std::vector<Type>& a, const std::vector<Type>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) match_dims(a[i], b[i], dims);
  };
  if (!own || !actual || own->kind != actual->kind) return;
  if (const auto* tensor = as<TensorType>(own)) {
    const auto& shape = as<TensorType>(actual)->shape;
    if (!tensor->shape.has_rank() || !shape.has_rank() || tensor->shape.rank() != shape.rank())
      return;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      if (const auto variable = tensor->shape[axis].as_variable())
        dims.dims.emplace(variable.get(), shape[axis]);
    }
  } else if (const auto* tuple = as<TupleType>(own)) {
    each(tuple->fields, as<TupleType>(actual)->fields);
  } else if (const auto* dimension = as<DimensionType>(own)) {
    if (const auto variable = dimension->dim.as_variable())
      dims.dims.emplace(variable.get(), as<DimensionType>(actual)->dim);
  } else if (const auto* adt = as<AdtType>(own)) {
    each(adt->args, as<AdtType>(actual)->args);
  } else if (const auto* reference = as<ReferenceType>(own)) {
    match_dims(reference->content, as<ReferenceType>(actual)->content, dims);
  } else if (const auto* function = as<FunctionType>(own)) {
    each(function->params, as<FunctionType>(actual)->params);
    match_dims(function->result, as<FunctionType>(actual)->result, dims);
  }
}

}  // namespace relay::lang
