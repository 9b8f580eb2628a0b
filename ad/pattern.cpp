#include <algorithm>

#include "ad/block.h"
#include "ad/pairs.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/record.h"

// `match` in reverse: the adjoint of the scrutinee is made of those of the variables that its
// pattern binds.
namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::PatternKind;
using lang::PatternRef;
using lang::Type;
namespace build = lang::build;

namespace {

// Can zeros of the tangent only be made where the primal is at hand?
bool needs_primal(const Type& tangent) {
  if (const auto* tuple = as<lang::TupleType>(tangent))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), needs_primal);
  const auto* tensor = as<lang::TensorType>(tangent);
  if (!tensor) return false;
  const auto& dims = tensor->shape.dims();
  return std::any_of(dims.begin(), dims.end(),
                     [](const lang::Dim& dim) { return !dim.is_constant(); });
}

// The types of the parts that a pattern of this kind takes a value apart into.
std::vector<Type> parts_of(const PatternRef& pattern, const Type& type) {
  if (pattern->kind == PatternKind::Tuple) return as<lang::TupleType>(type)->fields;
  std::vector<Type> types;
  const auto& adt = *as<lang::AdtType>(type);
  for (std::size_t i = 0; i < pattern->constructor->fields.size(); ++i)
    types.push_back(lang::field_type(adt, *pattern->constructor, i));
  return types;
}

PatternRef with_variables(const PatternRef& pattern, const Type& type, Tangents& tangents) {
  switch (pattern->kind) {
    case PatternKind::Variable:
      return pattern;
    case PatternKind::Wildcard: {
      if (!needs_primal(tangents.or_unit(type))) return pattern;
      return lang::variable_pattern(lang::make_variable("field", type), pattern->span);
    }
    case PatternKind::Tuple:
    case PatternKind::Constructor:
      break;
  }
  const std::vector<Type> types = parts_of(pattern, type);
  std::vector<PatternRef> fields;
  for (std::size_t i = 0; i < types.size(); ++i)
    fields.push_back(with_variables(pattern->fields[i], types[i], tangents));
  return pattern->kind == PatternKind::Tuple
             ? lang::tuple_pattern(std::move(fields), pattern->span)
             : lang::constructor_pattern(pattern->constructor, std::move(fields), pattern->span);
}

}  // namespace

PatternRef BlockReverse::enter(const Expr& scrutinee, const PatternRef& pattern) {
  if (is_unit(tangent_of(scrutinee, scrutinee->span))) return pattern;
  PatternRef named = with_variables(pattern, scrutinee->type, pairs_.tangents());
  primal_.push_back({{nullptr, scrutinee, scrutinee->span}, named});
  return named;
}

Expr BlockReverse::adjoint_of_pattern(const PatternRef& pattern, const Type& type) {
  if (pattern->kind == PatternKind::Wildcard) return nullptr;
  if (pattern->kind == PatternKind::Variable)
    return has_adjoint(pattern->variable) ? adjoint_of(pattern->variable) : Expr();
  const std::vector<Type> types = parts_of(pattern, type);
  std::vector<Expr> adjoints(types.size());
  bool is_zero = true;
  for (std::size_t i = 0; i < types.size(); ++i) {
    adjoints[i] = adjoint_of_pattern(pattern->fields[i], types[i]);
    is_zero = is_zero && !adjoints[i];
  }
  if (is_zero) return nullptr;
  const bool is_tuple = pattern->kind == PatternKind::Tuple;
  std::vector<Expr> parts;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Type tangent = pairs_.tangents().of(types[i]);
    if (is_unit(tangent)) {
      if (is_tuple) parts.push_back(build::tuple({}));
      continue;
    }
    const PatternRef& field = pattern->fields[i];
    const Expr primal =
        field->kind == PatternKind::Variable ? lang::make_var(field->variable) : Expr();
    parts.push_back(adjoints[i] ? adjoints[i] : zero_of(tangent, primal));
  }
  if (is_tuple) return build::tuple(std::move(parts));
  const auto* mirror = pairs_.tangents().mirror(*pattern->constructor, *as<lang::AdtType>(type));
  return construct(mirror, std::move(parts), pairs_.tangents().of(type));
}

}  // namespace relay::ad
