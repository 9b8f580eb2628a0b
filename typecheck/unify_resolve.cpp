#include <algorithm>

#include "lang/stop.h"
#include "typecheck/unify.h"

// What the solver knows of a type, to compute with and to show.
namespace relay::typecheck {

using namespace lang;

Type Solver::head(const Type& type) {
  Type current = type;
  while (const VarType* var = as<VarType>(current)) {
    Unknown* unknown = find(*var->var);
    if (!unknown || !unknown->is_bound()) break;
    current = std::get<Type>(unknown->value);
  }
  // Shortens the way for the next reader.
  if (current != type) {
    if (Unknown* unknown = find(*as<VarType>(type)->var)) unknown->value = current;
  }
  return current;
}

Shape Solver::resolve(const Shape& shape) {
  if (!shape.has_rank()) {
    Unknown* unknown = find(*shape.var());
    if (!unknown || !unknown->is_bound()) return shape;
    Shape known = resolve(std::get<Shape>(unknown->value));
    find(*shape.var())->value = known;
    return known;
  }
  if (std::none_of(shape.dims().begin(), shape.dims().end(),
                   [this](const Dim& dim) { return has_bound(dim); })) {
    return shape;
  }
  std::vector<Dim> dims;
  dims.reserve(shape.rank());
  for (const Dim& dim : shape.dims()) dims.push_back(resolve(dim));
  return Shape(std::move(dims));
}

DTypeTerm Solver::resolve(const DTypeTerm& dtype) {
  DTypeTerm current = dtype;
  while (!current.is_known()) {
    Unknown* unknown = find(*current.var());
    if (!unknown || !unknown->is_bound()) break;
    current = std::get<DTypeTerm>(unknown->value);
  }
  return current;
}

bool Solver::has_bound(const Dim& dim) {
  bool found = false;
  if (dim.is_constant() || dim.is_any()) return found;
  dim.for_each_variable([&](const TypeVarRef& var) {
    const Unknown* unknown = find(*var);
    found |= unknown && unknown->is_bound();
  });
  return found;
}

Dim Solver::resolve(const Dim& dim) {
  if (!has_bound(dim)) return dim;
  return dim.substitute([this](const TypeVarRef& var) -> std::optional<Dim> {
    Unknown* unknown = find(*var);
    if (!unknown || !unknown->is_bound()) return std::nullopt;
    Dim known = resolve(std::get<Dim>(unknown->value));
    find(*var)->value = known;
    return known;
  });
}

namespace {

// The list with each element replaced; false if nothing changed.
template <class F>
bool map_list(const std::vector<Type>& list, std::vector<Type>& out, F&& f) {
  bool changed = false;
  out.reserve(list.size());
  for (const Type& type : list) {
    out.push_back(f(type));
    changed |= out.back() != type;
  }
  return changed;
}

Type checked_size(Type type) {
  check_size(type);
  return type;
}

}  // namespace

void check_size(const Type& type) {
  constexpr std::uint32_t kLargest = 10'000;
  constexpr std::uint32_t kDeepest = 3'000;
  constexpr std::size_t kMostAxes = 256;
  if (type->size > kLargest)
    fail(DiagnosticKind::TypeTooLarge, "a type would have more than 10,000 parts");
  if (type->depth > kDeepest)
    fail(DiagnosticKind::TypeTooLarge, "a type would be nested more than 3,000 levels deep");
  const auto* tensor = as<TensorType>(type);
  if (tensor && tensor->shape.has_rank() && tensor->shape.rank() > kMostAxes)
    fail(DiagnosticKind::TypeTooLarge, "a tensor would have more than 256 axes");
}

Type Solver::resolve(const Type& type) {
  lang::poll();
  if (!type || !type->has_unknowns) return type;
  auto again = [this](const Type& t) { return resolve(t); };
  switch (type->kind) {
    case TypeKind::Tensor: {
      const auto& tensor = *as<TensorType>(type);
      DTypeTerm dtype = resolve(tensor.dtype);
      if (dtype == tensor.dtype && tensor.shape.has_rank() &&
          std::none_of(tensor.shape.dims().begin(), tensor.shape.dims().end(),
                       [this](const Dim& dim) { return has_bound(dim); })) {
        return type;
      }
      Shape shape = resolve(tensor.shape);
      if (shape == tensor.shape && dtype == tensor.dtype) return type;
      return checked_size(tensor_type(std::move(shape), std::move(dtype)));
    }
    case TypeKind::Tuple: {
      std::vector<Type> fields;
      if (!map_list(as<TupleType>(type)->fields, fields, again)) return type;
      return checked_size(tuple_type(std::move(fields)));
    }
    case TypeKind::Function: {
      const auto& function = *as<FunctionType>(type);
      std::vector<Type> params;
      bool changed = map_list(function.params, params, again);
      Type result = resolve(function.result);
      if (!changed && result == function.result) return type;
      return checked_size(function_type(std::move(params), std::move(result), function.quantified));
    }
    case TypeKind::Adt: {
      const auto& adt = *as<AdtType>(type);
      std::vector<Type> args;
      if (!map_list(adt.args, args, again)) return type;
      return checked_size(adt_type(adt.def, std::move(args)));
    }
    case TypeKind::Reference: {
      Type content = resolve(as<ReferenceType>(type)->content);
      return content == as<ReferenceType>(type)->content ? type
                                                         : reference_type(std::move(content));
    }
    case TypeKind::Dimension: {
      Dim dim = resolve(as<DimensionType>(type)->dim);
      return dim == as<DimensionType>(type)->dim ? type : dimension_type(std::move(dim));
    }
    case TypeKind::Var: {
      Type known = head(type);
      if (as<VarType>(known)) return known;
      Type full = resolve(known);
      if (full != known) find(*as<VarType>(type)->var)->value = full;
      return full;
    }
    case TypeKind::Incomplete:
      return type;
  }
  return type;
}

std::vector<TypeVarRef> Solver::unknowns_of(const Type& type) {
  std::vector<TypeVarRef> found;
  const Type known = resolve(type);
  if (!known || !known->has_unknowns) return found;
  for_each_type_variable(known, [&](const TypeVarRef& var) {
    if (!find(*var)) return;
    if (std::find(found.begin(), found.end(), var) == found.end()) found.push_back(var);
  });
  return found;
}

// --- Showing ---

namespace {

constexpr std::uint32_t kLongestShown = 200;  // parts of a type

// Nobody reads more than a screen: of a large type, parts that are large themselves show as `...`.
Type shortened(const Type& type, std::uint32_t room = kLongestShown) {
  if (!type || type->size <= room) return type;
  auto list = [&](const std::vector<Type>& parts) {
    std::vector<Type> result;
    for (const Type& part : parts)
      result.push_back(shortened(part, room / static_cast<std::uint32_t>(parts.size() + 1)));
    return result;
  };
  static const Type ellipsis = var_type(TypeVar::rigid(VarKind::Type, "..."));
  if (type->size > room && room < 2) return ellipsis;
  if (const auto* tuple = as<TupleType>(type)) return tuple_type(list(tuple->fields));
  if (const auto* adt = as<AdtType>(type)) return adt_type(adt->def, list(adt->args));
  if (const auto* function = as<FunctionType>(type); function && function->quantified.empty())
    return function_type(list(function->params), shortened(function->result, room / 2));
  return type;
}

}  // namespace

// A nameless variable prints as `_`. A literal shows the dtype that it has if nothing else is said.
std::string Solver::show(const Type& type) {
  Type known = shortened(resolve(type));
  TypeSubstitution defaults;
  for (const TypeVarRef& var : unknowns_of(known)) {
    const Unknown& unknown = at(*var);
    if (var->kind != VarKind::DType || !unknown.literal) continue;
    bool is_integer = accepts(unknown.requirements, DType::Int32);
    defaults.dtypes.emplace(var.get(), DTypeTerm(is_integer ? DType::Int32 : DType::Float32));
  }
  return to_string(defaults.empty() ? known : substitute(known, defaults));
}

std::string Solver::show(const Shape& shape) { return to_string(resolve(shape)); }

std::string Solver::show(const DTypeTerm& dtype) { return to_string(resolve(dtype)); }

std::string Solver::show(const Dim& dim) { return resolve(dim).to_string(); }

}  // namespace relay::typecheck
