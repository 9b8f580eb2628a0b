// Instances of generic definitions: ground rank and dtype, dimensions symbolic or as the use has
// them.

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "lang/boxed.h"
#include "lang/stop.h"
#include "typecheck/checker.h"
#include "typecheck/entry_checks.h"
#include "typecheck/rebuild.h"
#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Dims on which an open relation or equation depends decide how the body is typed (whether an axis
// is stretched, say).
std::unordered_set<const TypeVar*> dims_in_relations(const Scheme& scheme) {
  std::unordered_set<const TypeVar*> dims;
  auto collect = [&](const Type& type) {
    for_each_type_variable(type, [&](const TypeVarRef& var) {
      if (var->kind == VarKind::Dim) dims.insert(var.get());
    });
  };
  for (const OpenRelation& relation : scheme.relations) {
    for (const Type& arg : relation.args) collect(arg);
    collect(relation.result);
  }
  for (const DimEquation& equation : scheme.equations) {
    collect(dimension_type(equation.a));
    collect(dimension_type(equation.b));
  }
  return dims;
}

// The dims that only data types show: no extent of a parameter tells them when the program runs.
void add_hidden_dims(const Type& type, std::unordered_set<const TypeVar*>& shown,
                     std::unordered_set<const TypeVar*>& hidden) {
  if (const auto* tensor = as<TensorType>(type)) {
    for (const Dim& dim : tensor->shape.dims()) {
      dim.for_each_variable([&](const TypeVarRef& var) { shown.insert(var.get()); });
    }
  } else if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) add_hidden_dims(field, shown, hidden);
  } else if (as<AdtType>(type)) {
    for_each_type_variable(type, [&](const TypeVarRef& var) {
      if (var->kind == VarKind::Dim) hidden.insert(var.get());
    });
  }
}

// The dims of data, and of what functions give: what a call has for them may be a `?`, with which
// every extent agrees and which nothing checks where it enters. What is read of it is no known
// extent.
void add_dims_inside(const Type& type, std::unordered_set<const TypeVar*>& inside) {
  if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) add_dims_inside(field, inside);
  } else if (type->kind == TypeKind::Adt || type->kind == TypeKind::Function ||
             type->kind == TypeKind::Reference) {
    const auto* function = as<FunctionType>(type);
    for_each_type_variable(function ? function->result : type, [&](const TypeVarRef& var) {
      if (var->kind == VarKind::Dim) inside.insert(var.get());
    });
  }
}

// The dims that an instance has as its call has them; the others stay symbolic in it.
std::unordered_set<const TypeVar*> fixed_dims_of(const Scheme& scheme) {
  std::unordered_set<const TypeVar*> fixed = dims_in_relations(scheme);
  std::unordered_set<const TypeVar*> shown;
  std::unordered_set<const TypeVar*> hidden;
  for (const Type& param : as<FunctionType>(scheme.type)->params)
    add_hidden_dims(param, shown, hidden);
  for (const TypeVar* var : hidden) {
    if (!shown.count(var)) fixed.insert(var);
  }
  return fixed;
}

// The scheme's variables as unknowns of a solver that matches the scheme with an instance.
struct Matching {
  Solver solver;
  TypeSubstitution unknowns;

  explicit Matching(const std::vector<TypeVarRef>& variables) {
    map_to_unknowns(unknowns, variables, solver);
  }

  bool is_open(const TypeVarRef& dim) {
    return !solver.unknowns_of(dimension_type(unknowns.dims.at(dim.get()))).empty();
  }
};

// Does the type of the instance leave one of `dims` open that the instance's code needs?
bool leaves_open(Matching& matching, const Scheme& scheme,
                 const std::unordered_set<const TypeVar*>& dims) {
  bool found = false;
  const auto look = [&](const TypeVarRef& var) {
    found = found || (dims.count(var.get()) && matching.is_open(var));
  };
  for_each_type_variable(scheme.type, look);
  for (const DimEquation& equation : scheme.equations) {
    equation.a.for_each_variable(look);
    equation.b.for_each_variable(look);
  }
  return found;
}

// Where the scheme has `n + m`, the type tells the sum alone; and it need not have the dims of an
// equation. What the scheme asks for decides them, as it has for the use that the instance is for.
void decide(Matching& matching, const Scheme& scheme,
            const std::unordered_set<const TypeVar*>& dims) {
  if (!leaves_open(matching, scheme, dims)) return;
  const auto is_stop = [](const Failure& failure) {
    return lang::is_stop(failure.diagnostics.front().kind);
  };
  Relations relations(matching.solver, [&](Failure&& failure, const Relation&) {
    if (is_stop(failure)) throw std::move(failure);
  });
  try {
    demand(scheme, matching.unknowns, matching.solver, "", {});
    demand_relations(scheme, matching.unknowns, relations, "", {});
    relations.drain();
  } catch (const Failure& failure) {
    // The function around the use may assume more of its dims than is known here.
    if (is_stop(failure)) throw;
  }
}

}  // namespace

TypeSubstitution Checker::Impl::match(const Entry& entry, const Type& type, Extents extents) {
  const Scheme& scheme = entry.scheme;
  Matching matching(scheme.variables);
  Solver& solver = matching.solver;
  try {
    solver.unify(substitute(scheme.type, matching.unknowns), type);
    solver.retry_equations();
  } catch (const Failure& failure) {
    if (lang::is_stop(failure.diagnostics.front().kind)) throw;
    RELAY_CHECK(false, fmt::format("`{}` is no instance of `{}`: {}", to_string(type),
                                   to_string(scheme), failure.what()));
  }
  std::unordered_set<const TypeVar*> fixed_dims = fixed_dims_of(scheme);
  decide(matching, scheme, fixed_dims);
  std::unordered_set<const TypeVar*> inside;
  for (const Type& param : as<FunctionType>(scheme.type)->params) add_dims_inside(param, inside);
  TypeSubstitution result;
  for (const TypeVarRef& ref : scheme.variables) {
    const TypeVar* var = ref.get();
    switch (var->kind) {
      case VarKind::Type: {
        Type value = solver.resolve(matching.unknowns.types.at(var));
        if (solver.unknowns_of(value).empty()) result.types.emplace(var, value);
        break;
      }
      case VarKind::Shape: {
        Shape value = solver.resolve(matching.unknowns.shapes.at(var));
        if (value.has_rank() && solver.unknowns_of(tensor_type(value, DType::Bool)).empty()) {
          result.shapes.emplace(var, value);
        }
        break;
      }
      case VarKind::DType: {
        DTypeTerm value = solver.resolve(matching.unknowns.dtypes.at(var));
        if (value.is_known()) result.dtypes.emplace(var, value);
        break;
      }
      case VarKind::Dim: {
        Dim value = solver.resolve(matching.unknowns.dims.at(var));
        const bool is_fixed = fixed_dims.count(var) ||
                              (extents == Extents::Known && value.is_constant()) ||
                              (value.is_any() && inside.count(var));
        if (!is_fixed) break;
        if (!matching.is_open(ref)) result.dims.emplace(var, value);
        break;
      }
    }
  }
  return result;
}

namespace {

// Variables of another member of the component are free in this instance.
Type free_others(const Type& type, const Scheme& scheme, Solver& solver) {
  std::vector<TypeVarRef> others = variables_of(type);
  std::erase_if(others, [&](const TypeVarRef& var) {
    return std::find(scheme.variables.begin(), scheme.variables.end(), var) !=
           scheme.variables.end();
  });
  TypeSubstitution fresh;
  map_to_unknowns(fresh, others, solver);
  return fresh.empty() ? type : substitute(type, fresh);
}

}  // namespace

namespace {

Span span_of_params(const Expr& made) {
  const auto& function = cast<Function>(made);
  if (function.params.empty()) return made->span;
  Span span = function.params.front()->span;
  if (span) span.end = function.params.back()->span.end;
  return span;
}

// The function, which first of all makes the checks.
Expr with_entry_checks(const Expr& made, const std::vector<EntryCheck>& checks,
                       const std::string& name) {
  const auto& function = cast<Function>(made);
  Expr body = behind_checks(checks, "`" + name + "`", span_of_params(made), function.body);
  return make_function(function.params, function.result, body, function.type_params, function.attrs,
                       made->span, made->type);
}

// The parameters of the function with what its scheme and a use of it say of them.
std::vector<TakenValue> taken_at_entry(const Expr& made, const Type& scheme, const Type& type) {
  std::vector<TakenValue> values;
  for (const VariableRef& param : cast<Function>(made).params) {
    const std::size_t i = values.size();
    values.push_back({make_var(param), param->name, as<FunctionType>(scheme)->params[i],
                      as<FunctionType>(type)->params[i]});
  }
  return values;
}

}  // namespace

Expr Checker::Impl::specialise(const std::string& name, const Type& type, Extents extents) {
  return with_widening(
      [&](Widening& widening) { return specialise(name, type, extents, widening); });
}

Expr Checker::Impl::specialise(const std::string& name, const Type& type, Extents extents,
                               Widening& widening) {
  const Entry& found = entry(name);
  TypeSubstitution substitution = match(found, type, extents);
  Type instance = substitute(found.scheme.type, substitution);
  const auto boxed = lang::make_boxed<Inference>(*this, Purpose::kCode, substitution, &widening);
  Inference& inference = boxed->value;
  current.clear();
  for (std::size_t i = 0; i < found.member_names.size(); ++i) {
    Type member = free_others(found.member_types[i], found.scheme, inference.solver());
    current[found.member_names[i]] = substitute(member, substitution);
  }
  struct Clear {
    std::unordered_map<std::string, Type>& members;
    ~Clear() { members.clear(); }
  } clear{current};
  Type declared = inference.declare(cast<Function>(found.function));
  inference.expect({declared, instance, found.function->span});
  struct Unproven {
    const DimEquation& general;  // as the scheme has it
    DimEquation here;
  };
  std::vector<Unproven> unproven;
  for (const DimEquation& equation : found.scheme.equations) {
    DimEquation here = {substitute(equation.a, substitution), substitute(equation.b, substitution)};
    if (here.a == here.b && !here.a.is_any()) continue;
    if (!here.a.is_any() && !here.b.is_any()) inference.solver().assume(here.a, here.b);
    unproven.push_back({equation, std::move(here)});
  }
  inference.infer_function(found.function, declared);
  inference.finish_ground(declared, true);
  std::vector<TypeVarRef> dims;
  for (const TypeVarRef& var : variables_of(inference.solver().resolve(declared))) {
    if (var->kind == VarKind::Dim) dims.push_back(var);
  }
  Expr made = rebuild(found.function, inference, std::move(dims));
  const std::vector<TakenValue> values = taken_at_entry(made, found.scheme.type, type);
  std::vector<EntryCheck> checks = open_extents_of(values);
  const Span span = span_of_params(made);
  const auto value = [&](const Dim& general, const Dim& here) {
    return here.is_any() ? extent_of(general, values) : make_dim_term(here, span);
  };
  for (const auto& [general, here] : unproven) {
    Expr a = value(general.a, here.a);
    Expr b = value(general.b, here.b);
    if (a && b)
      checks.push_back({std::move(a), std::move(b),
                        fmt::format("{} = {}", general.a.to_string(), general.b.to_string())});
  }
  return checks.empty() ? made : with_entry_checks(made, checks, name);
}

std::string Checker::Impl::specialisation_key(const std::string& name, const Type& type,
                                              Extents extents) {
  const Entry& found = entry(name);
  TypeSubstitution substitution = match(found, type, extents);
  TypeSubstitution renamed;
  auto rename = [&](const Type& value) {
    for_each_type_variable(value, [&](const TypeVarRef& var) {
      if (var->kind != VarKind::Dim || renamed.dims.count(var.get())) return;
      TypeVarRef canonical = TypeVar::rigid(VarKind::Dim, fmt::format("${}", renamed.dims.size()));
      renamed.dims.emplace(var.get(), Dim::variable(canonical));
    });
    return to_string(substitute(value, renamed));
  };
  std::string key = name;
  for (const TypeVarRef& ref : found.scheme.variables) {
    const TypeVar* var = ref.get();
    std::string text = "_";
    if (auto t = substitution.types.find(var); t != substitution.types.end())
      text = rename(t->second);
    if (auto s = substitution.shapes.find(var); s != substitution.shapes.end()) {
      text = rename(tensor_type(s->second, DType::Bool));
    }
    if (auto d = substitution.dtypes.find(var); d != substitution.dtypes.end())
      text = to_string(d->second);
    if (auto n = substitution.dims.find(var); n != substitution.dims.end()) {
      text = rename(tensor_type(Shape{n->second}, DType::Bool));
    }
    key += "|" + text;
  }
  // An instance of its own makes the checks: calls with known extents do without.
  if (leaves_extents_open(as<FunctionType>(found.scheme.type)->params,
                          as<FunctionType>(type)->params))
    key += "|?";
  return key;
}

}  // namespace relay::typecheck
