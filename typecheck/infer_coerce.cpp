// Where a value with `?` meets a type that knows the extent. Each `?` opens to a fresh unknown
// there: what is found for it is checked when the program runs, and what stays open is a `?` again.

#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

// Of two types that agree, the one with fewer `?`; or, for `widen`, with more.
Type merge_dims(const Type& a, const Type& b, bool widen) {
  const auto* left = as<TensorType>(a);
  const auto* right = as<TensorType>(b);
  if (left && right && left->shape.has_rank() && right->shape.has_rank() &&
      left->shape.rank() == right->shape.rank()) {
    std::vector<Dim> dims;
    for (std::size_t i = 0; i < left->shape.rank(); ++i) {
      dims.push_back(left->shape[i].is_any() != widen ? right->shape[i] : left->shape[i]);
    }
    return tensor_type(Shape(std::move(dims)), left->dtype);
  }
  const auto* tuple = as<TupleType>(a);
  const auto* other = as<TupleType>(b);
  if (tuple && other && tuple->fields.size() == other->fields.size()) {
    std::vector<Type> fields;
    for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
      fields.push_back(merge_dims(tuple->fields[i], other->fields[i], widen));
    }
    return tuple_type(std::move(fields));
  }
  return a;
}

// `found` with an unknown for each `?` where `expected` knows more, or may still.
Type Inference::open_extents(const Type& found, const Type& expected) {
  const auto* tensor = as<TensorType>(found);
  const auto* wanted = as<TensorType>(expected);
  if (tensor && wanted) {
    if (!tensor->shape.has_rank() || !wanted->shape.has_rank() ||
        tensor->shape.rank() != wanted->shape.rank()) {
      return found;
    }
    std::vector<Dim> dims = tensor->shape.dims();
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      if (!dims[axis].is_any() || wanted->shape[axis].is_any()) continue;
      opened_.push_back(solver_.fresh(VarKind::Dim));
      dims[axis] = Dim::variable(opened_.back());
    }
    return tensor_type(Shape(std::move(dims)), tensor->dtype);
  }
  const auto* tuple = as<TupleType>(found);
  const auto* other = as<TupleType>(expected);
  if (!tuple || !other || tuple->fields.size() != other->fields.size()) return found;
  std::vector<Type> fields;
  for (std::size_t i = 0; i < tuple->fields.size(); ++i)
    fields.push_back(open_extents(tuple->fields[i], other->fields[i]));
  return tuple_type(std::move(fields));
}

Type Inference::coerce(const ExprNode* site, std::size_t index, const Type& found,
                       const Type& expected, const std::string& because) {
  TypeKind kind = solver_.head(found)->kind;
  if (kind != TypeKind::Tensor && kind != TypeKind::Tuple) return found;
  Type known = solver_.resolve(found);
  if (!has_any_dim(known)) return found;
  std::size_t first = opened_.size();
  Type opened = open_extents(known, solver_.resolve(expected));
  if (opened_.size() == first) return found;
  coercions_[{site, index}] = {opened, because};
  return opened;
}

const Coercion* Inference::coercion(const ExprNode* site, std::size_t index) const {
  if (coercions_.empty()) return nullptr;
  auto found = coercions_.find({site, index});
  return found == coercions_.end() ? nullptr : &found->second;
}

bool Inference::settle_opened() {
  bool settled = false;
  for (const TypeVarRef& var : opened_) {
    Dim known = solver_.resolve(Dim::variable(var));
    TypeVarRef open = known.is_any() ? nullptr : known.as_variable();
    if (!open || !solver_.find(*open)) continue;
    solver_.settle(*open, Dim::any());
    settled = true;
  }
  return settled;
}

}  // namespace relay::typecheck
