#include "lang/type_print.h"

#include "lang/diagnostic.h"
#include "lang/letters.h"
#include "lang/module.h"

namespace relay::lang {

std::string TypeNames::name(const TypeVarRef& var) {
  if (var->name.empty()) return "_";
  if (const auto known = names_.find(var.get()); known != names_.end()) return known->second;
  std::string base = var->name;
  if (letter_length(base) == 0 || base.front() == '_') base.insert(base.begin(), 't');
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

// Appended to one text: types nest deeply, and a text for each level would cost the square of it.
void TypeNames::append(std::string& text, const std::vector<Type>& types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i > 0) text += ", ";
    append(text, types[i]);
  }
}

void TypeNames::append(std::string& text, const Type& type) {
  if (!type) {
    text += "_";
    return;
  }
  switch (type->kind) {
    case TypeKind::Tensor: {
      const auto& tensor = static_cast<const TensorType&>(*type);
      text += is_scalar(type) ? print(tensor.dtype)
                              : "Tensor[" + print(tensor.shape) + ", " + print(tensor.dtype) + "]";
      return;
    }
    case TypeKind::Tuple: {
      const auto& tuple = static_cast<const TupleType&>(*type);
      text += "(";
      append(text, tuple.fields);
      text += tuple.fields.size() == 1 ? ",)" : ")";
      return;
    }
    case TypeKind::Function: {
      const auto& function = static_cast<const FunctionType&>(*type);
      text += "fn ";
      if (!function.quantified.empty()) {
        text += "[";
        for (const TypeVarRef& var : function.quantified) {
          if (text.back() != '[') text += ", ";
          text += declare(var);
        }
        text += "]";
      }
      text += "(";
      append(text, function.params);
      text += ") -> ";
      append(text, function.result);
      return;
    }
    case TypeKind::Adt: {
      const auto& adt = static_cast<const AdtType&>(*type);
      text += adt.def->name;
      if (adt.args.empty()) return;
      text += "[";
      append(text, adt.args);
      text += "]";
      return;
    }
    case TypeKind::Reference:
      text += "ref(";
      append(text, static_cast<const ReferenceType&>(*type).content);
      text += ")";
      return;
    case TypeKind::Var:
      text += name(static_cast<const VarType&>(*type).var);
      return;
    case TypeKind::Dimension:
      text += print(static_cast<const DimensionType&>(*type).dim);
      return;
    case TypeKind::Incomplete:
      text += "_";
      return;
  }
  internal_error(__FILE__, __LINE__, "a type of an unknown kind");
}

std::string TypeNames::print(const Type& type) {
  std::string text;
  append(text, type);
  return text;
}

std::string to_string(const Type& type) { return TypeNames().print(type); }
std::string to_string(const Shape& shape) { return TypeNames().print(shape); }
std::string to_string(const DTypeTerm& dtype) { return TypeNames().print(dtype); }

}  // namespace relay::lang
