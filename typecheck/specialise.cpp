// Instances of generic definitions: ground rank and dtype, symbolic dimensions.

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "typecheck/checker.h"
#include "typecheck/rebuild.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Dims on which an open relation depends decide how the body is typed (whether an axis is
// stretched, say).
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
  return dims;
}

// The scheme's variables as unknowns of a solver that matches the scheme with an instance.
struct Matching {
  Solver solver;
  TypeSubstitution unknowns;

  explicit Matching(const std::vector<TypeVarRef>& variables) {
    for (const TypeVarRef& var : variables) {
      switch (var->kind) {
        case VarKind::Type:
          unknowns.types.emplace(var.get(), solver.fresh_type());
          break;
        case VarKind::Shape:
          unknowns.shapes.emplace(var.get(), solver.fresh_shape());
          break;
        case VarKind::DType:
          unknowns.dtypes.emplace(var.get(), solver.fresh_dtype());
          break;
        case VarKind::Dim:
          unknowns.dims.emplace(var.get(), solver.fresh_dim());
          break;
      }
    }
  }
};

}  // namespace

TypeSubstitution Checker::Impl::match(const Entry& entry, const Type& type) {
  const Scheme& scheme = entry.scheme;
  Matching matching(scheme.variables);
  Solver& solver = matching.solver;
  try {
    solver.unify(substitute(scheme.type, matching.unknowns), type);
    solver.retry_equations();
  } catch (const Failure& failure) {
    RELAY_CHECK(false, fmt::format("`{}` is no instance of `{}`: {}", to_string(type),
                                   to_string(scheme), failure.what()));
  }
  std::unordered_set<const TypeVar*> fixed_dims = dims_in_relations(scheme);
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
        if (!fixed_dims.count(var)) break;
        Dim value = solver.resolve(matching.unknowns.dims.at(var));
        if (solver.unknowns_of(tensor_type(Shape{value}, DType::Bool)).empty())
          result.dims.emplace(var, value);
        break;
      }
    }
  }
  return result;
}

namespace {

// Variables of another member of the component are free in this instance.
Type free_others(const Type& type, const Scheme& scheme, Solver& solver) {
  TypeSubstitution fresh;
  for_each_type_variable(type, [&](const TypeVarRef& var) {
    if (std::find(scheme.variables.begin(), scheme.variables.end(), var) != scheme.variables.end())
      return;
    switch (var->kind) {
      case VarKind::Type:
        if (!fresh.types.count(var.get())) fresh.types.emplace(var.get(), solver.fresh_type());
        break;
      case VarKind::Shape:
        if (!fresh.shapes.count(var.get())) fresh.shapes.emplace(var.get(), solver.fresh_shape());
        break;
      case VarKind::DType:
        if (!fresh.dtypes.count(var.get())) fresh.dtypes.emplace(var.get(), solver.fresh_dtype());
        break;
      case VarKind::Dim:
        if (!fresh.dims.count(var.get())) fresh.dims.emplace(var.get(), solver.fresh_dim());
        break;
    }
  });
  return fresh.empty() ? type : substitute(type, fresh);
}

}  // namespace

Expr Checker::Impl::specialise(const std::string& name, const Type& type) {
  const Entry& found = entry(name);
  TypeSubstitution substitution = match(found, type);
  Type instance = substitute(found.scheme.type, substitution);
  Inference inference(*this, substitution);
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
  inference.infer_function(found.function, declared);
  inference.finish_ground(declared, true);
  std::vector<TypeVarRef> dims;
  for (const TypeVarRef& var : variables_of(inference.solver().resolve(declared))) {
    if (var->kind == VarKind::Dim) dims.push_back(var);
  }
  return rebuild(found.function, inference, std::move(dims));
}

std::string Checker::Impl::specialisation_key(const std::string& name, const Type& type) {
  const Entry& found = entry(name);
  TypeSubstitution substitution = match(found, type);
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
  return key;
}

}  // namespace relay::typecheck
