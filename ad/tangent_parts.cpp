#include "ad/tangent_parts.h"

#include <algorithm>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/record.h"

namespace relay::ad {

using lang::AdtType;
using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

Type own_type(const lang::TypeDef& def) {
  std::vector<Type> dims;
  for (const lang::TypeVarRef& param : def.params)
    dims.push_back(lang::dimension_type(lang::Dim::variable(param)));
  return lang::adt_type(&def, std::move(dims));
}

const lang::Constructor* add_constructor(lang::TypeDef& def, std::string name,
                                         std::vector<Type> fields) {
  lang::Constructor constructor;
  constructor.name = std::move(name);
  constructor.tag = static_cast<std::uint32_t>(def.constructors.size());
  constructor.fields = std::move(fields);
  constructor.owner = &def;
  def.constructors.push_back(std::move(constructor));
  return &def.constructors.back();
}

std::vector<Expr> uses_of(const std::vector<VariableRef>& variables) {
  std::vector<Expr> uses;
  for (const auto& variable : variables) uses.push_back(lang::make_var(variable));
  return uses;
}

Expr construct(const lang::Constructor* constructor, std::vector<Expr> fields, const Type& type) {
  if (fields.empty()) return lang::make_constructor_ref(constructor, {}, type);
  std::vector<Type> types;
  for (const auto& field : fields) types.push_back(field->type);
  return lang::make_call(
      lang::make_constructor_ref(constructor, {}, lang::function_type(types, type)),
      std::move(fields), nullptr, {}, type);
}

Expr call_global(const std::string& name, const Type& type, std::vector<Expr> args) {
  return lang::make_call(lang::make_global_var(name, {}, type), std::move(args), nullptr, {},
                         as<lang::FunctionType>(type)->result);
}

lang::AttrsRef inline_mark() { return lang::with_fact(lang::FunctionFact::Inline); }

bool is_unit(const Type& type) {
  const auto* tuple = as<lang::TupleType>(type);
  return tuple && tuple->fields.empty();
}

Expr mirror_zero(const Type& mirror) {
  return construct(&as<AdtType>(mirror)->def->constructors.front(), {}, mirror);
}

Expr part_of(const Expr& primal, std::uint32_t index) {
  const auto* adt = as<AdtType>(primal->type);
  if (!adt) return build::project(primal, index);
  const lang::Constructor& constructor = adt->def->constructors.front();
  const VariableRef field =
      lang::make_variable("field", lang::field_type(*adt, constructor, index));
  std::vector<lang::PatternRef> fields(constructor.fields.size(), lang::wildcard_pattern());
  fields[index] = lang::variable_pattern(field);
  return lang::make_match(
      primal, {{lang::constructor_pattern(&constructor, std::move(fields)), lang::make_var(field)}},
      true, {}, field->type);
}

bool needs_primal(const Type& tangent) {
  if (const auto* tuple = as<lang::TupleType>(tangent))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), needs_primal);
  const auto* tensor = as<lang::TensorType>(tangent);
  if (!tensor) return false;
  const auto& dims = tensor->shape.dims();
  return std::any_of(dims.begin(), dims.end(),
                     [](const lang::Dim& dim) { return !dim.is_constant(); });
}

Expr zero_of(const Type& tangent, const Expr& primal) {
  if (const auto* tuple = as<lang::TupleType>(tangent)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const bool asks = primal && needs_primal(tuple->fields[i]);
      fields.push_back(zero_of(tuple->fields[i], asks ? part_of(primal, i) : Expr()));
    }
    return build::tuple(std::move(fields));
  }
  if (as<AdtType>(tangent)) return mirror_zero(tangent);
  if (lang::is_scalar(tangent))
    return build::constant(as<lang::TensorType>(tangent)->dtype.known(), 0);
  return primal ? build::zeros_like(primal) : build::zeros_of(tangent);
}

void append_leaves(const Type& tangent, std::vector<Type>& leaves) {
  const auto* tuple = as<lang::TupleType>(tangent);
  if (!tuple) return leaves.push_back(tangent);
  for (const Type& field : tuple->fields) append_leaves(field, leaves);
}

Expr packed(const Type& tangent, const std::vector<VariableRef>& leaves, std::size_t& next) {
  const auto* tuple = as<lang::TupleType>(tangent);
  if (!tuple) return lang::make_var(leaves[next++]);
  std::vector<Expr> fields;
  for (const Type& field : tuple->fields) fields.push_back(packed(field, leaves, next));
  return build::tuple(std::move(fields));
}

void append_parts(const Expr& tangent, std::vector<Expr>& parts) {
  const auto* tuple = as<lang::TupleType>(tangent->type);
  if (!tuple) return parts.push_back(tangent);
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
    append_parts(build::project(tangent, i), parts);
}

}  // namespace relay::ad
