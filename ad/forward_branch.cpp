#include <utility>

#include "ad/forward_block.h"
#include "ad/pairs.h"
#include "ad/pattern.h"
#include "lang/build.h"

// `if` and `match` in forward mode: each branch gives its value and its tangent. The tangent of
// what a pattern takes apart is taken apart by the mirror of the pattern.
namespace relay::ad {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::PatternKind;
using lang::PatternRef;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

void ForwardBlock::branch(const Binding& binding, Emitter& code) {
  struct Part {
    Emitter code;
    Dual dual;
  };
  std::vector<Part> parts;
  std::vector<PatternRef> patterns;
  const auto add = [&](const Expr& body, Emitter inner) {
    Dual dual = run(body, inner);
    parts.push_back({std::move(inner), std::move(dual)});
  };
  const auto* choice = as<lang::If>(binding.value);
  const auto* match = as<lang::Match>(binding.value);
  if (match && match->clauses.size() == 1 &&
      is_irrefutable(match->clauses[0].pattern, match->scrutinee->type, pairs_.tangents()))
    return straight(binding, *match, code);
  if (choice) {
    add(choice->then_branch, Emitter(pairs_.tangents()));
    add(choice->else_branch, Emitter(pairs_.tangents()));
  } else {
    const TangentValue tangent = tangent_of(match->scrutinee);
    for (const lang::Clause& clause : match->clauses) {
      Emitter inner(pairs_.tangents());
      patterns.push_back(enter(clause.pattern, match->scrutinee->type, tangent, inner));
      add(clause.body, std::move(inner));
    }
  }
  bool is_zero = true;
  for (const Part& part : parts) is_zero = is_zero && part.dual.tangent.is_zero();
  const bool uses_references = pairs_.reference_use().in(binding.value);
  if (is_zero && !uses_references) return code.append({binding});
  std::vector<Expr> bodies;
  for (Part& part : parts) {
    Expr result = is_zero ? part.dual.value : both(part.dual, part.code);
    bodies.push_back(lang::close_block({part.code.take(), std::move(result)}));
  }
  const Type& own = binding.value->type;
  const Type type = is_zero ? own : lang::tuple_type({own, tangent_type(own)});
  const auto bind = [&](Expr value) {
    if (!is_zero) return bind_both(binding, std::move(value), code);
    code.append({{binding.variable, std::move(value), binding.span}});
  };
  if (choice) {
    return bind(lang::make_if(choice->condition, std::move(bodies[0]), std::move(bodies[1]),
                              binding.value->span, type));
  }
  std::vector<lang::Clause> clauses;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    clauses.push_back({patterns[i], std::move(bodies[i])});
  bind(lang::make_match(match->scrutinee, std::move(clauses), match->is_complete,
                        binding.value->span, type));
}

// The variables of a pattern that all values match are parts of the scrutinee.
void ForwardBlock::straight(const Binding& binding, const lang::Match& match, Emitter& code) {
  const PatternRef& pattern = match.clauses[0].pattern;
  const TangentValue tangent = tangent_of(match.scrutinee);
  if (const auto place = field_read(match)) {
    code.append({binding});
    return set_tangent(binding.variable, tangent.field(*place, code));
  }
  bind_parts(match.scrutinee, pattern, tangent, code);
  const Dual dual = run(match.clauses[0].body, code);
  code.append({{binding.variable, dual.value, binding.span}});
  set_tangent(binding.variable, dual.tangent);
}

void ForwardBlock::bind_parts(const Expr& value, const PatternRef& pattern,
                              const TangentValue& tangent, Emitter& code) {
  if (pattern->kind == PatternKind::Wildcard) return;
  if (pattern->kind == PatternKind::Variable) {
    code.append({{pattern->variable, value}});
    return set_tangent(pattern->variable, tangent);
  }
  for (std::uint32_t i = 0; i < pattern->fields.size(); ++i) {
    const PatternRef& field = pattern->fields[i];
    if (field->kind == PatternKind::Wildcard) continue;
    bind_parts(code.emit("part", part_of(value, i)), field, tangent.field(i, code), code);
  }
}

PatternRef ForwardBlock::enter(const PatternRef& pattern, const Type& type,
                               const TangentValue& tangent, Emitter& code) {
  if (tangent.is_zero()) return pattern;
  PatternRef named = with_variables(pattern, type, pairs_.tangents());
  take_apart(named, type, tangent, code);
  return named;
}

namespace {

bool binds(const PatternRef& pattern) {
  if (pattern->kind == PatternKind::Variable) return true;
  for (const PatternRef& field : pattern->fields) {
    if (binds(field)) return true;
  }
  return false;
}

// Zeros for what the pattern, which `with_variables` made, takes apart.
Expr zero_of_pattern(const PatternRef& pattern, const Type& type, Tangents& tangents) {
  const Type tangent = tangents.or_unit(type);
  if (pattern->kind == PatternKind::Variable)
    return zero_of(tangent, lang::make_var(pattern->variable));
  if (!as<lang::TupleType>(tangent) || pattern->kind == PatternKind::Wildcard)
    return zero_of(tangent, nullptr);
  const std::vector<Type> types = parts_of(pattern, type);
  std::vector<Expr> fields;
  for (std::size_t i = 0; i < types.size(); ++i)
    fields.push_back(zero_of_pattern(pattern->fields[i], types[i], tangents));
  return build::tuple(std::move(fields));
}

}  // namespace

void ForwardBlock::take_apart(const PatternRef& pattern, const Type& type,
                              const TangentValue& tangent, Emitter& code) {
  if (tangent.is_zero() || pattern->kind == PatternKind::Wildcard) return;
  if (pattern->kind == PatternKind::Variable) return set_tangent(pattern->variable, tangent);
  const std::vector<Type> types = parts_of(pattern, type);
  if (as<lang::TupleType>(tangent_type(type))) {  // of a record, too
    for (std::uint32_t i = 0; i < types.size(); ++i)
      take_apart(pattern->fields[i], types[i], tangent.field(i, code), code);
    return;
  }
  Tangents& tangents = pairs_.tangents();
  const auto* mirror = tangents.mirror(*pattern->constructor, *as<lang::AdtType>(type));
  if (!mirror) return;
  // The mirror has those fields that have a tangent; wanted are those that bind something.
  std::vector<PatternRef> fields;
  std::vector<Expr> parts;
  std::vector<Expr> zeros;
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (is_unit(tangents.or_unit(types[i]))) continue;
    if (!binds(pattern->fields[i])) {
      fields.push_back(lang::wildcard_pattern());
      continue;
    }
    const PatternRef& field = pattern->fields[i];
    const std::string name =
        field->kind == PatternKind::Variable ? "d" + field->variable->name : "part";
    const VariableRef part = lang::make_variable(name, tangents.or_unit(types[i]));
    fields.push_back(lang::variable_pattern(part));
    parts.push_back(lang::make_var(part));
    zeros.push_back(zero_of_pattern(field, types[i], tangents));
    wanted.push_back(i);
  }
  if (wanted.empty()) return;
  const bool is_one = wanted.size() == 1;
  const Expr all = is_one ? parts[0] : build::tuple(parts);
  std::vector<lang::Clause> clauses;
  clauses.push_back({lang::constructor_pattern(mirror, std::move(fields)), all});
  clauses.push_back({lang::wildcard_pattern(), is_one ? zeros[0] : build::tuple(zeros)});
  const Type own = tangents.or_unit(type);
  const Expr taken = code.emit("parts", lang::make_match(tangent.value(own, nullptr, code),
                                                         std::move(clauses), true, {}, all->type));
  for (std::uint32_t k = 0; k < wanted.size(); ++k) {
    const Expr part = is_one ? taken : code.emit("d", build::project(taken, k));
    take_apart(pattern->fields[wanted[k]], types[wanted[k]], TangentValue(part), code);
  }
}

}  // namespace relay::ad
