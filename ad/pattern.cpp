#include "ad/pattern.h"

#include <algorithm>
#include <optional>

#include "ad/block.h"
#include "ad/pairs.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/record.h"
#include "lang/visit.h"

// `match` in reverse: the adjoint of the scrutinee is made of those of the variables that its
// pattern binds.
namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::PatternKind;
using lang::PatternRef;
using lang::Type;
namespace build = lang::build;

std::vector<Type> parts_of(const PatternRef& pattern, const Type& type) {
  if (pattern->kind == PatternKind::Tuple) return as<lang::TupleType>(type)->fields;
  std::vector<Type> types;
  const auto& adt = *as<lang::AdtType>(type);
  for (std::size_t i = 0; i < pattern->constructor->fields.size(); ++i)
    types.push_back(lang::field_type(adt, *pattern->constructor, i));
  RELAY_CHECK(pattern->fields.size() == types.size(), "a pattern takes apart all fields");
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

bool is_irrefutable(const PatternRef& pattern, const Type& type, Tangents& tangents) {
  if (pattern->kind == PatternKind::Wildcard || pattern->kind == PatternKind::Variable) return true;
  if (pattern->kind == PatternKind::Constructor) {
    // One that holds itself has a mirror, which may be Zero.
    const Type tangent = tangents.of(type);
    const bool is_record = as<lang::AdtType>(type)->def->constructors.size() == 1;
    if (!is_record || !as<lang::TupleType>(tangent)) return false;
  }
  const std::vector<Type> types = parts_of(pattern, type);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!is_irrefutable(pattern->fields[i], types[i], tangents)) return false;
  }
  return true;
}

std::optional<std::uint32_t> field_read(const lang::Match& match) {
  const auto* var = as<lang::Var>(match.clauses[0].body);
  const PatternRef& pattern = match.clauses[0].pattern;
  if (match.clauses.size() != 1 || !var || pattern->kind == PatternKind::Wildcard)
    return std::nullopt;
  std::optional<std::uint32_t> place;
  for (std::uint32_t i = 0; i < pattern->fields.size(); ++i) {
    const PatternRef& field = pattern->fields[i];
    if (field->kind == PatternKind::Wildcard) continue;
    if (field->kind != PatternKind::Variable || !(field->variable == var->variable))
      return std::nullopt;
    place = i;
  }
  return place;
}

bool BlockReverse::is_product(const Type& type) const {
  const Type tangent = pairs_.tangents().of(type);
  return tangent && !is_unit(tangent) && as<lang::TupleType>(tangent);
}

bool BlockReverse::is_without_choice(const lang::Match& match) const {
  return match.clauses.size() == 1 &&
         is_irrefutable(match.clauses[0].pattern, match.scrutinee->type, pairs_.tangents());
}

// Straight-line code: each variable of the pattern is a part of the scrutinee.
void BlockReverse::forward_fields(const lang::Binding& binding, const lang::Match& match) {
  if (field_read(match)) {
    primal_.push_back({binding});
    return;
  }
  const Expr clause = lang::rename_bound(binding.value);
  const lang::Clause& only = lang::cast<lang::Match>(clause).clauses[0];
  bind_parts(match.scrutinee, only.pattern);
  const lang::Block block = lang::open_block(only.body);
  forward(block.bindings);
  if (build::is_atom(block.result)) return forward_alias(binding, block.result);
  forward_binding({binding.variable, block.result, binding.span});
}

void BlockReverse::bind_parts(const Expr& value, const PatternRef& pattern) {
  if (pattern->kind == PatternKind::Wildcard) return;
  if (pattern->kind == PatternKind::Variable)
    return forward_alias({pattern->variable, value}, value);
  for (std::uint32_t i = 0; i < pattern->fields.size(); ++i) {
    const PatternRef& field = pattern->fields[i];
    if (field->kind == PatternKind::Wildcard) continue;
    const Expr part = part_of(value, i);
    const bool is_named = field->kind == PatternKind::Variable;
    const lang::VariableRef variable =
        is_named ? field->variable : lang::make_variable("part", part->type);
    active_.bind(variable, part);
    primal_.push_back({{variable, part}});
    if (!is_named) bind_parts(lang::make_var(variable), field);
  }
}

// The adjoint of `p.w` is that field of the adjoint of `p`.
void BlockReverse::reverse_field(const lang::Match& match, const Expr& adjoint) {
  const auto place = field_read(match);
  RELAY_CHECK(place && is_product(match.scrutinee->type),
              "a match in straight-line code reads a field");
  const auto* var = as<lang::Var>(match.scrutinee);
  if (!var) return;
  const Type tangent = tangent_of(match.scrutinee, match.span);
  adjoint_to_add_to(var->variable).add_field(*place, adjoint, tangent, backward_);
}

void BlockReverse::reverse_pattern(const Expr& scrutinee, const PatternRef& pattern) {
  const auto* var = as<lang::Var>(scrutinee);
  const bool is_whole =
      pattern->kind == PatternKind::Wildcard || pattern->kind == PatternKind::Variable;
  if (is_whole || !var || !is_product(scrutinee->type))
    return accumulate(scrutinee, adjoint_of_pattern(pattern, scrutinee->type));
  const std::vector<Type> types = parts_of(pattern, scrutinee->type);
  const Type tangent = tangent_of(scrutinee, scrutinee->span);
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    if (is_unit(as<lang::TupleType>(tangent)->fields[i])) continue;
    if (const Expr adjoint = adjoint_of_pattern(pattern->fields[i], types[i])) {
      adjoint_to_add_to(var->variable)
          .add_field(i, backward_.emit("part", adjoint), tangent, backward_);
    }
  }
}

PatternRef BlockReverse::enter(const Expr& scrutinee, const PatternRef& pattern) {
  if (is_unit(tangent_of(scrutinee, scrutinee->span)) || !active_.reads_active(scrutinee)) {
    active_.deactivate(pattern);
    return pattern;
  }
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
  const bool is_tuple = as<lang::TupleType>(pairs_.tangents().of(type)) != nullptr;
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
