#include "typecheck/valueless.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "lang/plain_type.h"
#include "typecheck/core_rules.h"
#include "typecheck/derivative_rule.h"
#include "typecheck/inference.h"
#include "typecheck/substitution.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// Calls `part(type, is_valueless)` for the parts of a type. Of those that only data holds there is
// no value in it while they are unknown, as data without functions and references is all there is.
template <class F>
void for_each_part(const Type& type, bool is_inside_data, const F& part) {
  if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) for_each_part(field, is_inside_data, part);
    return;
  }
  if (as<AdtType>(type) && is_plain(type)) {
    for (const Type& arg : as<AdtType>(type)->args) for_each_part(arg, true, part);
    return;
  }
  part(type, is_inside_data && (as<VarType>(type) || as<TensorType>(type)));
}

}  // namespace

Type general_type(const Type& type, Solver& solver) {
  if (!type->has_unknowns) return type;
  std::vector<TypeVarRef> generic;
  std::unordered_set<const TypeVar*> fixed;
  for_each_part(type, false, [&](const Type& part, bool is_valueless) {
    for (const TypeVarRef& var : solver.unknowns_of(part)) {
      if (is_valueless && var->kind != VarKind::Dim) {
        generic.push_back(var);
      } else {
        fixed.insert(var.get());
      }
    }
  });
  TypeSubstitution names;
  for (const TypeVarRef& var : generic) {
    if (fixed.count(var.get())) continue;
    const bool is_type = var->kind == VarKind::Type;
    const std::size_t count =
        is_type ? names.types.size() : names.shapes.size() + names.dtypes.size();
    constexpr std::string_view kTypes = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    constexpr std::string_view kOthers = "stuvwxyz";
    const std::string_view letters = is_type ? kTypes : kOthers;
    map_variable(names, *var,
                 TypeVar::rigid(var->kind, std::string(1, letters[count % letters.size()])));
  }
  return names.empty() ? type : substitute(type, names);
}

namespace {

// Does the rule take tensors of that rank where it does not know the shape? It is asked with one
// type of these, as no other is ever looked at.
bool takes_rank(const Relation& relation, std::size_t rank, Solver& solver) {
  if (is_differentiate_rule(*relation.op)) return true;
  std::vector<Type> args;
  for (const Type& arg : relation.args) {
    const Type known = solver.resolve(arg);
    TypeSubstitution tried;
    for (const TypeVarRef& var : solver.unknowns_of(known)) {
      switch (var->kind) {
        case VarKind::Type:
          return false;
        case VarKind::Shape:
          tried.shapes[var.get()] = Shape(std::vector<Dim>(rank, Dim::any()));
          break;
        case VarKind::Dim:
          tried.dims[var.get()] = Dim::any();
          break;
        case VarKind::DType:
          tried.dtypes.emplace(var.get(),
                               Solver::accepts(solver.at(*var).requirements, DType::Float32)
                                   ? DType::Float32
                                   : DType::Int32);
          break;
      }
    }
    args.push_back(substitute(known, tried));
  }
  try {
    ground_result_type(*relation.op, args, relation.attrs, relation.span);
    return true;
  } catch (const Failure&) {
    return false;
  }
}

}  // namespace

// The smallest rank that all take who wait for the shape.
std::optional<std::size_t> Inference::rank_of_valueless(const TypeVar& shape) {
  std::vector<const Relation*> waiting;
  for (const Relation* relation : open_relations()) {
    for (const TypeVarRef& var : relations_.unknowns_of(*relation)) {
      if (var.get() == &shape) waiting.push_back(relation);
    }
  }
  constexpr std::size_t kMostRanks = 6;
  for (std::size_t rank = 0; rank < kMostRanks; ++rank) {
    if (std::all_of(waiting.begin(), waiting.end(),
                    [&](const Relation* relation) { return takes_rank(*relation, rank, solver_); }))
      return rank;
  }
  return std::nullopt;
}

Inference::Waiting Inference::waiting_for_rank() {
  Waiting waiting;
  for (const Relation* relation : open_relations()) {
    if (relation->op == &index_rule()) continue;
    const std::vector<TypeVarRef> unknowns = relations_.unknowns_of(*relation);
    const auto is_type = [](const TypeVarRef& var) { return var->kind == VarKind::Type; };
    if (std::any_of(unknowns.begin(), unknowns.end(), is_type)) continue;
    for (const TypeVarRef& var : unknowns) {
      if (var->kind == VarKind::Shape) waiting[var.get()].push_back(relation);
    }
  }
  return waiting;
}

bool Inference::may_have_rank(const Waiting& waiting, const TypeVar& shape, std::size_t rank) {
  const auto* relations = waiting.find(&shape);
  return !relations || std::all_of(relations->begin(), relations->end(), [&](const Relation* each) {
    return takes_rank(*each, rank, solver_);
  });
}

// Of several shapes first the one of the largest rank, from which the others may follow. False if
// nothing fits one of them.
bool Inference::settle_valueless_shape(const std::vector<TypeVarRef>& shapes) {
  TypeVarRef largest;
  std::size_t rank = 0;
  for (const TypeVarRef& shape : shapes) {
    const std::optional<std::size_t> own = rank_of_valueless(*shape);
    if (!own) return false;
    if (largest && *own <= rank) continue;
    largest = shape;
    rank = *own;
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(solver_.fresh_dim());
  solver_.settle(*largest, Shape(std::move(dims)));
  relations_.drain();
  while (settle_index_relations(true)) relations_.drain();
  return true;
}

// The unknowns of that kind, of open relations or else in the types of the code, which no value in
// `inhabited` will ever tell.
std::vector<TypeVarRef> Inference::valueless(VarKind kind, bool in_relations,
                                             const std::vector<Type>& inhabited) {
  const std::unordered_set<const TypeVar*> told = reachable(inhabited);
  std::vector<TypeVarRef> found;
  std::unordered_set<const TypeVar*> seen;
  const auto add = [&](const std::vector<TypeVarRef>& unknowns) {
    for (const TypeVarRef& var : unknowns) {
      if (var->kind == kind && !told.contains(var.get()) && !generic_.contains(var.get()) &&
          seen.insert(var.get()).second)
        found.push_back(var);
    }
  };
  if (in_relations) {
    for (const Relation* relation : open_relations()) {
      for (const Type& arg : relation->args) add(solver_.unknowns_of(arg));  // the result follows
    }
    return found;
  }
  for (const auto& [expr, type] : nodes_) {
    if (type->has_unknowns) add(solver_.unknowns_of(type));
  }
  return found;
}

// What only has fields is the smallest tuple that has them.
bool Inference::settle_valueless_tuples(const std::vector<TypeVarRef>& types) {
  bool is_settled = false;
  for (const TypeVarRef& type : types) {
    std::int64_t count = 0;
    for (const Relation* relation : open_relations()) {
      const Type resolved = solver_.resolve(relation->args[0]);
      const auto* var = as<VarType>(resolved);
      if (relation->op == &projection_rule() && var && var->var == type)
        count = std::max(count, relation->attrs->get_int("index") + 1);
    }
    if (count == 0) continue;
    std::vector<Type> fields;
    for (std::int64_t i = 0; i < count; ++i) fields.push_back(solver_.fresh_type());
    solver_.settle(*type, tuple_type(std::move(fields)));
    is_settled = true;
  }
  if (is_settled) relations_.drain();
  return is_settled;
}

bool Inference::settle_valueless(const Type& result) {
  std::vector<Type> inhabited;
  for_each_part(solver_.resolve(result), false, [&](const Type& part, bool is_valueless) {
    if (!is_valueless) inhabited.push_back(part);
  });
  const Attempt attempt(*this);
  bool is_settled = true;
  try {
    while (settle_valueless_tuples(valueless(VarKind::Type, true, inhabited))) continue;
    for (const bool in_relations : {true, false}) {
      while (is_settled) {
        const auto shapes = valueless(VarKind::Shape, in_relations, inhabited);
        if (shapes.empty()) break;
        is_settled = settle_valueless_shape(shapes);
      }
      while (is_settled) {
        const auto dtypes = valueless(VarKind::DType, in_relations, inhabited);
        if (dtypes.empty()) break;
        settle_dtype(*dtypes.front());
        relations_.drain();
      }
      while (is_settled && in_relations) {
        const auto dims = valueless(VarKind::Dim, in_relations, inhabited);
        if (dims.empty()) break;
        solver_.settle(*dims.front(), Dim::any());
        relations_.drain();
      }
    }
  } catch (const Failure&) {
    is_settled = false;
  }
  return is_settled && !attempt.has_failed();
}

}  // namespace relay::typecheck
