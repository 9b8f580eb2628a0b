#include "lang/type_print.h"

#include <cctype>

#include "lang/diagnostic.h"
#include "lang/module.h"

namespace relay::lang {

std::string TypeNames::name(const TypeVarRef& var) {
  if (var->name.empty()) return "_";
  if (const auto known = names_.find(var.get()); known != names_.end()) return known->second;
  std::string base = var->name;
  if (!std::isalpha(static_cast<unsigned char>(base.front()))) base.insert(base.begin(), 't');
  std::string unique = base;
  for (int suffix = 1; !taken_.insert(unique).second; ++suffix) {
    unique = base + std::to_string(suffix);
  }
  return names_[var.get()] = unique;
}

std::string TypeNames::declare(const TypeVarRef& var) {
  declared_.insert(var.get());
  return name(var);
}

std::string TypeNames::print(const Dim& dim) {
  if (free_dim_) {
    bool is_free = false;
    dim.for_each_variable([&](const TypeVarRef& var) {
      is_free |= !var->flexible && !declared_.contains(var.get());
    });
    if (is_free) return free_dim_(dim);
  }
  return print_dim(dim, [this](const TypeVarRef& var) { return name(var); });
}

std::string TypeNames::print(const Shape& shape) {
  if (!shape.has_rank()) return name(shape.var());
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (axis) text += ", ";
    text += print(shape[axis]);
  }
  return text + ")";
}

std::string TypeNames::print(const DTypeTerm& dtype) {
  return dtype.is_known() ? std::string(name_of(dtype.known())) : name(dtype.var());
}

std::string TypeNames::list(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) {
    if (!text.empty()) text += ", ";
    text += print(type);
  }
  return text;
}

std::string TypeNames::print(const Type& type) {
  if (!type) return "_";
  switch (type->kind) {
    case TypeKind::Tensor: {
      const auto& tensor = static_cast<const TensorType&>(*type);
      if (is_scalar(type)) return print(tensor.dtype);
      return "Tensor[" + print(tensor.shape) + ", " + print(tensor.dtype) + "]";
    }
    case TypeKind::Tuple: {
      const auto& tuple = static_cast<const TupleType&>(*type);
      return "(" + list(tuple.fields) + (tuple.fields.size() == 1 ? ",)" : ")");
    }
    case TypeKind::Function: {
      const auto& function = static_cast<const FunctionType&>(*type);
      std::string text = "fn ";
      if (!function.quantified.empty()) {
        text += "[";
        for (const TypeVarRef& var : function.quantified) {
          if (text.back() != '[') text += ", ";
          text += declare(var);
        }
        text += "]";
      }
      return text + "(" + list(function.params) + ") -> " + print(function.result);
    }
    case TypeKind::Adt: {
      const auto& adt = static_cast<const AdtType&>(*type);
      return adt.args.empty() ? adt.def->name : adt.def->name + "[" + list(adt.args) + "]";
    }
    case TypeKind::Reference:
      return "ref(" + print(static_cast<const ReferenceType&>(*type).content) + ")";
    case TypeKind::Var:
      return name(static_cast<const VarType&>(*type).var);
    case TypeKind::Dimension:
      return print(static_cast<const DimensionType&>(*type).dim);
    case TypeKind::Incomplete:
      return "_";
  }
  internal_error(__FILE__, __LINE__, "a type of an unknown kind");
}

std::string to_string(const Type& type) { return TypeNames().print(type); }
std::string to_string(const Shape& shape) { return TypeNames().print(shape); }
std::string to_string(const DTypeTerm& dtype) { return TypeNames().print(dtype); }

}  // namespace relay::lang
