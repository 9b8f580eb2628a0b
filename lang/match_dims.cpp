#include "lang/match_dims.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace relay::lang {

std::optional<Dim> divided_evenly(const Dim& dim, std::int64_t divisor) {
  if (dim.is_any()) return dim;
  const bool is_even =
      dim.constant_part() % divisor == 0 &&
      std::all_of(dim.terms().begin(), dim.terms().end(),
                  [&](const Dim::Term& term) { return term.coefficient % divisor == 0; });
  if (!is_even) return std::nullopt;
  return Dim::floor_div(divisor > 0 ? dim : Dim(0) - dim, Dim(std::abs(divisor)));
}

const Dim::Term* sole_unknown(const Dim& dim,
                              const std::function<bool(const TypeVarRef&)>& is_known) {
  const Dim::Term* unknown = nullptr;
  for (const Dim::Term& term : dim.terms()) {
    bool are_known = true;
    const auto look = [&](const TypeVarRef& variable) {
      are_known = are_known && is_known(variable);
    };
    for (const Dim::AtomRef& atom : term.atoms) {
      if (atom->variable) {
        look(atom->variable);
      } else {
        atom->division->first.for_each_variable(look);
        atom->division->second.for_each_variable(look);
      }
    }
    if (are_known) continue;
    if (unknown || term.atoms.size() != 1 || !term.atoms.front()->variable) return nullptr;
    unknown = &term;
  }
  return unknown;
}

namespace {

// Solves `own` = `actual` for the variable of `own` that is not known yet, if there is one alone
// and it has an integer for a factor.
void match_dim(const Dim& own, const Dim& actual, TypeSubstitution& dims) {
  const Dim::Term* const unknown = sole_unknown(
      own, [&](const TypeVarRef& variable) { return dims.dims.contains(variable.get()); });
  if (!unknown) return;
  const TypeVarRef& variable = unknown->atoms.front()->variable;
  const Dim rest = own - Dim(unknown->coefficient) * Dim::variable(variable);
  const Dim product = actual - substitute(rest, dims);
  if (const auto value = divided_evenly(product, unknown->coefficient))
    dims.dims.emplace(variable.get(), *value);
}

void match_once(const Type& own, const Type& actual, TypeSubstitution& dims) {
  const auto each = [&](const std::vector<Type>& a, const std::vector<Type>& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) match_once(a[i], b[i], dims);
  };
  if (!own || !actual || own->kind != actual->kind) return;
  if (const auto* tensor = as<TensorType>(own)) {
    const auto& shape = as<TensorType>(actual)->shape;
    if (!tensor->shape.has_rank() || !shape.has_rank() || tensor->shape.rank() != shape.rank())
      return;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      match_dim(tensor->shape[axis], shape[axis], dims);
  } else if (const auto* tuple = as<TupleType>(own)) {
    each(tuple->fields, as<TupleType>(actual)->fields);
  } else if (const auto* dimension = as<DimensionType>(own)) {
    match_dim(dimension->dim, as<DimensionType>(actual)->dim, dims);
  } else if (const auto* adt = as<AdtType>(own)) {
    each(adt->args, as<AdtType>(actual)->args);
  } else if (const auto* reference = as<ReferenceType>(own)) {
    match_once(reference->content, as<ReferenceType>(actual)->content, dims);
  } else if (const auto* function = as<FunctionType>(own)) {
    each(function->params, as<FunctionType>(actual)->params);
    match_once(function->result, as<FunctionType>(actual)->result, dims);
  }
}

}  // namespace

void match_dims(const Type& own, const Type& actual, TypeSubstitution& dims) {
  // What is known of one axis may solve another one.
  for (std::size_t before = dims.dims.size() + 1; before != dims.dims.size();) {
    before = dims.dims.size();
    match_once(own, actual, dims);
  }
}

}  // namespace relay::lang
