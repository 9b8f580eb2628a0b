#include "typecheck/relations.h"

#include <algorithm>
#include <unordered_set>

#include "typecheck/messages.h"

namespace relay::typecheck {

using namespace lang;

void Relations::add(Relation relation) {
  relations_.push_back(std::move(relation));
  run(static_cast<std::uint32_t>(relations_.size() - 1));
  if (solver_.has_woken()) drain();
}

void Relations::drain() {
  while (solver_.has_woken()) {
    solver_.retry_equations();
    for (std::uint32_t index : solver_.take_woken()) {
      if (!relations_[index].is_solved) run(index);
    }
  }
}

void Relations::run(std::uint32_t index) {
  Relation& relation = relations_[index];
  TypeCall call{solver_,
                *relation.op,
                {},
                relation.attrs,
                solver_.resolve(relation.result),
                relation.arg_spans,
                relation.span};
  call.args.reserve(relation.args.size());
  for (const Type& arg : relation.args) call.args.push_back(solver_.resolve(arg));
  try {
    if (relation.op->type_rule(call) == RuleOutcome::Solved) {
      relation.is_solved = true;
      return;
    }
  } catch (Failure& failure) {
    throw explain_relation(std::move(failure), relation, solver_);
  }
  for (const TypeVarRef& var : unknowns_of(relation)) solver_.watch(*var, index);
}

std::vector<const Relation*> Relations::open() const {
  std::vector<const Relation*> list;
  for (const Relation& relation : relations_) {
    if (!relation.is_solved) list.push_back(&relation);
  }
  return list;
}

std::vector<TypeVarRef> Relations::unknowns_of(const Relation& relation) {
  std::vector<TypeVarRef> found;
  auto collect = [&](const Type& type) {
    for (TypeVarRef& var : solver_.unknowns_of(type)) {
      if (std::find(found.begin(), found.end(), var) == found.end())
        found.push_back(std::move(var));
    }
  };
  for (const Type& arg : relation.args) collect(arg);
  collect(relation.result);
  return found;
}

bool Relations::is_tied(const TypeVarRef& var, std::uint64_t mark) {
  std::vector<TypeVarRef> todo = {var};
  std::unordered_set<const TypeVar*> seen = {var.get()};
  std::unordered_set<std::uint32_t> seen_relations;
  while (!todo.empty()) {
    TypeVarRef next = todo.back();
    todo.pop_back();
    const Unknown& unknown = solver_.at(*next);
    if (unknown.pinned || unknown.birth < mark) return true;
    for (std::uint32_t index : unknown.watchers) {
      if (relations_[index].is_solved || !seen_relations.insert(index).second) continue;
      for (TypeVarRef& other : unknowns_of(relations_[index])) {
        if (seen.insert(other.get()).second) todo.push_back(std::move(other));
      }
    }
  }
  return false;
}

}  // namespace relay::typecheck
