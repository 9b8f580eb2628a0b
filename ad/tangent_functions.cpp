#include "ad/data_search.h"
#include "ad/tangent.h"
#include "lang/build.h"
#include "lang/record.h"
#include "lang/visit.h"

// Code made of a type: sums of tangents, gradients as the user sees them, and back.
namespace relay::ad {

using lang::AdtType;
using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

std::vector<VariableRef> variables_for(const std::vector<Type>& types, const char* name) {
  std::vector<VariableRef> variables;
  for (const Type& type : types) variables.push_back(lang::make_variable(name, type));
  return variables;
}

lang::PatternRef pattern_of(const lang::Constructor* constructor,
                            const std::vector<VariableRef>& variables) {
  std::vector<lang::PatternRef> fields;
  for (const VariableRef& variable : variables) fields.push_back(lang::variable_pattern(variable));
  return lang::constructor_pattern(constructor, std::move(fields));
}

}  // namespace

// --- Sums ---

Expr Tangents::add(const Expr& a, const Expr& b) {
  if (const auto* tuple = as<lang::TupleType>(a->type)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const bool is_there = !is_unit(tuple->fields[i]);
      fields.push_back(is_there ? add(build::project(a, i), build::project(b, i))
                                : build::tuple({}));
    }
    return build::tuple(std::move(fields));
  }
  const auto* adt = as<AdtType>(a->type);
  if (!adt) return build::op("add", {a, b});
  if (adt->def == functions_.get()) {
    const Type type = lang::function_type({a->type, a->type}, a->type);
    return lang::make_call(lang::make_operator(&add_functions_, {}, type), {a, b}, nullptr, {},
                           a->type);
  }
  const auto [place, is_new] = add_.try_emplace(identity_of(a->type));
  if (is_new) {
    place->second = program_.reserve_name(adt->def->name + "_add");
    define_add(place->second, *adt);
  }
  return call_global(place->second, lang::function_type({a->type, a->type}, a->type), {a, b});
}

// Adjoints of one value are made by the same constructor, or Zero. Only a wrong program would have
// another, and `match?` stops it.
void Tangents::define_add(const std::string& name, const AdtType& mirror) {
  const Type type(&mirror);
  const VariableRef a = lang::make_variable("a", type);
  const VariableRef b = lang::make_variable("b", type);
  const auto& constructors = mirror.def->constructors;
  std::vector<lang::Clause> clauses;
  clauses.push_back({lang::constructor_pattern(&constructors.front(), {}), lang::make_var(b)});
  for (std::size_t k = 1; k < constructors.size(); ++k) {
    const std::vector<Type> fields = lang::field_types(mirror, constructors[k]);
    const std::vector<VariableRef> left = variables_for(fields, "x");
    const std::vector<VariableRef> right = variables_for(fields, "y");
    std::vector<Expr> sums;
    for (std::size_t i = 0; i < left.size(); ++i)
      sums.push_back(add(lang::make_var(left[i]), lang::make_var(right[i])));
    std::vector<lang::Clause> inner;
    inner.push_back({lang::constructor_pattern(&constructors.front(), {}), lang::make_var(a)});
    inner.push_back(
        {pattern_of(&constructors[k], right), construct(&constructors[k], std::move(sums), type)});
    clauses.push_back({pattern_of(&constructors[k], left),
                       lang::make_match(lang::make_var(b), std::move(inner), false, {}, type)});
  }
  const Expr body = lang::make_match(lang::make_var(a), std::move(clauses), true, {}, type);
  program_.add_function(name, lang::rename_bound(lang::make_function({a, b}, type, body)));
}

// --- Gradients ---

Expr Tangents::as_gradient(const Expr& adjoint, const Expr& primal) {
  if (const auto* tuple = as<lang::TupleType>(primal->type)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      const Expr part = is_unit(adjoint->type) ? adjoint : build::project(adjoint, i);
      fields.push_back(as_gradient(part, build::project(primal, i)));
    }
    return build::tuple(std::move(fields));
  }
  if (const auto* tensor = as<lang::TensorType>(primal->type)) {
    if (lang::is_float(tensor->dtype.known())) return adjoint;
    return lang::is_scalar(primal->type) ? build::constant(tensor->dtype.known(), 0)
                                         : build::zeros_like(primal);
  }
  const auto* adt = as<AdtType>(primal->type);
  RELAY_CHECK(adt, "the gradient of what is neither a tensor nor a data type");
  if (const Type tangent = of(primal->type); !is_unit(tangent) && as<lang::TupleType>(tangent))
    return gradient_of_record(adjoint, primal);
  const auto [place, is_new] = gradient_.try_emplace(identity_of(primal->type));
  if (is_new) {
    place->second = program_.reserve_name(adt->def->name + "_gradient");
    define_gradient(place->second, adjoint->type, *adt);
  }
  return call_global(place->second,
                     lang::function_type({adjoint->type, primal->type}, primal->type),
                     {adjoint, primal});
}

Expr Tangents::gradient_of_record(const Expr& adjoint, const Expr& primal) {
  const AdtType& adt = *as<AdtType>(primal->type);
  const lang::Constructor& constructor = adt.def->constructors.front();
  const std::vector<VariableRef> fields =
      variables_for(lang::field_types(adt, constructor), "field");
  std::vector<Expr> gradients;
  for (std::uint32_t i = 0; i < fields.size(); ++i) {
    const Expr part = is_unit(adjoint->type) ? adjoint : build::project(adjoint, i);
    gradients.push_back(as_gradient(part, lang::make_var(fields[i])));
  }
  const Expr gradient = construct(&constructor, std::move(gradients), primal->type);
  if (lang::free_variables(gradient) == lang::free_variables(adjoint)) return gradient;
  return lang::make_match(primal, {{pattern_of(&constructor, fields), gradient}}, true, {},
                          primal->type);
}

void Tangents::define_gradient(const std::string& name, const Type& adjoint_type,
                               const AdtType& primal) {
  const Type type(&primal);
  const VariableRef adjoint = lang::make_variable("adjoint", adjoint_type);
  const VariableRef value = lang::make_variable("value", type);
  std::vector<lang::Clause> clauses;
  for (const lang::Constructor& constructor : primal.def->constructors) {
    const std::vector<Type> types = lang::field_types(primal, constructor);
    const std::vector<VariableRef> fields = variables_for(types, "field");
    // The same constructor, its adjoints from `parts`; where null, zeros.
    const auto rebuilt = [&](const std::vector<VariableRef>* parts) {
      std::size_t next = 0;
      std::vector<Expr> gradients;
      for (const VariableRef& field : fields) {
        const Expr there = lang::make_var(field);
        const Type tangent = of(field->type);
        const Expr part = is_unit(tangent) ? build::tuple({})
                          : parts          ? lang::make_var((*parts)[next++])
                                           : zero_of(tangent, there);
        gradients.push_back(as_gradient(part, there));
      }
      return construct(&constructor, std::move(gradients), type);
    };
    const lang::Constructor* mirror_constructor = mirror(constructor, primal);
    Expr body = rebuilt(nullptr);
    if (mirror_constructor) {
      const std::vector<VariableRef> parts = variables_for(mirror_constructor->fields, "part");
      std::vector<lang::Clause> inner;
      inner.push_back({pattern_of(mirror_constructor, parts), rebuilt(&parts)});
      inner.push_back({lang::wildcard_pattern(), std::move(body)});
      body = lang::make_match(lang::make_var(adjoint), std::move(inner), true, {}, type);
    }
    clauses.push_back({pattern_of(&constructor, fields), std::move(body)});
  }
  const Expr body = lang::make_match(lang::make_var(value), std::move(clauses), true, {}, type);
  program_.add_function(name,
                        lang::rename_bound(lang::make_function({adjoint, value}, type, body)));
}

Expr Tangents::from_gradient(const Expr& gradient, const Expr& primal, lang::Span span) {
  const Type tangent = or_unit(gradient->type);
  if (lang::equal(tangent, gradient->type)) return gradient;
  if (is_unit(tangent)) return build::tuple({});
  if (const auto* tuple = as<lang::TupleType>(tangent)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(from_gradient(part_of(gradient, i), part_of(primal, i), span));
    return build::tuple(std::move(fields));
  }
  const lang::OpDef& check = lang::OpRegistry::instance().get("check_tangent");
  const Type type = lang::function_type({tangent, tangent}, tangent);
  return lang::make_call(lang::make_operator(&check, span, type),
                         {mirrored(gradient), mirrored(primal)}, nullptr, span, tangent);
}

// Data of the primal's type as a tangent.
Expr Tangents::mirrored(const Expr& gradient) {
  const Type tangent = or_unit(gradient->type);
  if (lang::equal(tangent, gradient->type)) return gradient;
  if (is_unit(tangent)) return build::tuple({});
  if (const auto* tuple = as<lang::TupleType>(tangent)) {
    std::vector<Expr> fields;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
      fields.push_back(mirrored(part_of(gradient, i)));
    return build::tuple(std::move(fields));
  }
  const auto* adt = as<AdtType>(gradient->type);
  RELAY_CHECK(adt, "a tangent that is neither a tensor nor data");
  const auto [place, is_new] = tangent_.try_emplace(identity_of(gradient->type));
  if (is_new) {
    place->second = program_.reserve_name(adt->def->name + "_tangent");
    define_tangent(place->second, *adt);
  }
  return call_global(place->second, lang::function_type({gradient->type}, tangent), {gradient});
}

void Tangents::define_tangent(const std::string& name, const AdtType& primal) {
  const Type type(&primal);
  const Type result = of(type);
  const VariableRef value = lang::make_variable("value", type);
  std::vector<lang::Clause> clauses;
  for (const lang::Constructor& constructor : primal.def->constructors) {
    const std::vector<VariableRef> fields =
        variables_for(lang::field_types(primal, constructor), "field");
    std::vector<Expr> parts;
    for (const VariableRef& field : fields) {
      if (!is_unit(or_unit(field->type))) parts.push_back(mirrored(lang::make_var(field)));
    }
    clauses.push_back({pattern_of(&constructor, fields),
                       construct(mirror(constructor, primal), std::move(parts), result)});
  }
  const Expr body = lang::make_match(lang::make_var(value), std::move(clauses), true, {}, result);
  program_.add_function(name, lang::rename_bound(lang::make_function({value}, result, body)));
}

}  // namespace relay::ad
