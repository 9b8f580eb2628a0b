#include "typecheck/relations.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lang/stop.h"
#include "typecheck/derivative_rule.h"
#include "typecheck/messages.h"
#include "typecheck/widening.h"

namespace relay::typecheck {

using namespace lang;

// Most relations are solved at once and leave nothing to remember.
Type Relations::add(Relation relation) {
  const bool solved = run(relation);
  if (!relation.result) relation.result = solver_.fresh_type();
  Type result = relation.result;
  if (!solved) {
    relations_.push_back(std::move(relation));
    ++open_;
    watch(static_cast<std::uint32_t>(relations_.size() - 1));
  }
  if (solver_.has_woken()) drain();
  return result;
}

void Relations::drain() {
  while (solver_.has_woken()) {
    solver_.retry_equations();
    for (std::uint32_t index : solver_.take_woken()) {
      Relation& relation = relations_[index];
      if (relation.is_solved) continue;
      relation.is_solved = run(relation);
      if (relation.is_solved) {
        --open_;
      } else {
        watch(index);
      }
    }
  }
}

namespace {

bool has_known_extent(const Type& type) {
  if (const auto* tuple = as<TupleType>(type))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), has_known_extent);
  const auto* tensor = as<TensorType>(type);
  return tensor && tensor->shape.has_rank() &&
         std::any_of(tensor->shape.dims().begin(), tensor->shape.dims().end(),
                     [](const Dim& dim) { return !dim.is_any(); });
}

// Is nothing known of its shape?
bool is_open_result(const Type& type) {
  const auto* tensor = as<TensorType>(type);
  return type && (type->kind == TypeKind::Var || (tensor && !tensor->shape.has_rank()));
}

}  // namespace

// What an operator gives where others wait for it may be of one extent where these have a `?`.
void Relations::enter(const Relation& relation, const Type& given) {
  constexpr std::size_t kFirst = 1'000;  // behind the arguments of a call that stands there
  solver_.unify(relation.result, widening_->entered(given, nullptr, relation.span,
                                                    kFirst + relation.place, solver_, true));
}

// The rule once more, as if nothing were known of the result.
void Relations::tell_meetings(const Relation& relation, const Type& known) {
  TypeCall call{solver_,       *relation.op, {}, relation.attrs, {}, relation.arg_spans,
                relation.span, relation.call};
  for (const Type& arg : relation.args) call.args.push_back(solver_.resolve(arg));
  try {
    if (relation.op->type_rule(call) != RuleOutcome::Solved) return;
  } catch (const Failure& failure) {
    if (lang::is_stop(failure.diagnostics.front().kind)) throw;
    return;
  }
  widening_->meet(solver_.resolve(call.result), known, solver_);
}

// The arguments move into the rule's call and back.
bool Relations::run(Relation& relation) {
  bool has_error = false;
  for (Type& arg : relation.args) {
    arg = solver_.resolve(arg);
    has_error |= solver_.mentions_error(arg);
  }
  auto give_up = [&]() {
    Type error = solver_.error_type();
    if (!relation.result || as<VarType>(solver_.head(relation.result))) {
      if (relation.result) solver_.unify(relation.result, error);
      relation.result = error;
    }
    return true;
  };
  if (has_error) return give_up();
  Type result = solver_.resolve(relation.result);  // it may be too large
  const Type known = widening_ && has_known_extent(result) ? result : nullptr;
  const bool is_entrance = widening_ && widening_->is_marking() && is_open_result(result);
  if (is_entrance) {
    const auto* tensor = as<TensorType>(result);
    result = tensor ? tensor_type(solver_.fresh_shape(), tensor->dtype) : nullptr;
  }
  TypeCall call{solver_,        *relation.op,      std::move(relation.args),
                relation.attrs, std::move(result), std::move(relation.arg_spans),
                relation.span,  relation.call};
  auto take_back = [&]() {
    relation.args = std::move(call.args);
    relation.arg_spans = std::move(call.arg_spans);
    if (!relation.result) relation.result = call.result;
  };
  try {
    const RuleOutcome outcome = relation.op->type_rule(call);
    take_back();
    if (is_entrance && call.result) enter(relation, call.result);
    if (outcome == RuleOutcome::Solved && has_open_dtype(relation)) rechecked_.push_back(relation);
    if (outcome == RuleOutcome::Solved && known) tell_meetings(relation, known);
    return outcome == RuleOutcome::Solved;
  } catch (Failure& failure) {
    take_back();
    report_(explain_relation(std::move(failure), relation, solver_), relation);
    return give_up();
  }
}

// Of a derivative any dtype, as of a function that is used later; of operators that of a literal.
bool Relations::has_open_dtype(const Relation& relation) {
  const bool is_derivative = is_differentiate_rule(*relation.op);
  for (const Type& arg : relation.args) {
    if (!arg->has_unknowns) continue;
    for (const TypeVarRef& var : solver_.unknowns_of(arg)) {
      if (var->kind == VarKind::DType && (is_derivative || solver_.at(*var).literal)) return true;
    }
  }
  return false;
}

void Relations::recheck() {
  for (Relation& relation : std::exchange(rechecked_, {})) run(relation);
}

void Relations::watch(std::uint32_t index) {
  for (const TypeVarRef& var : unknowns_of(relations_[index])) solver_.watch(*var, index);
}

void Relations::merge_equal() {
  std::unordered_multimap<std::size_t, std::size_t> seen;
  for (std::size_t i = 0; i < relations_.size(); ++i) {
    Relation& relation = relations_[i];
    if (relation.is_solved) continue;
    std::size_t key = std::hash<const OpDef*>()(relation.op);
    for (Type& arg : relation.args) {
      arg = solver_.resolve(arg);
      key = key * 31 + hash(arg);
    }
    auto [first, last] = seen.equal_range(key);
    for (; first != last && !relation.is_solved; ++first) {
      const Relation& other = relations_[first->second];
      if (other.op != relation.op || !equal(other.attrs, relation.attrs) ||
          !std::equal(other.args.begin(), other.args.end(), relation.args.begin(),
                      relation.args.end(),
                      [](const Type& a, const Type& b) { return equal(a, b); })) {
        continue;
      }
      try {
        solver_.unify(relation.result, other.result);
      } catch (Failure& failure) {
        report_(explain_relation(std::move(failure), relation, solver_), relation);
      }
      relation.is_solved = true;
      --open_;
    }
    if (!relation.is_solved) seen.emplace(key, i);
  }
  drain();
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
  std::vector<TypeVarRef> pending = {var};
  std::unordered_set<const TypeVar*> seen = {var.get()};
  std::unordered_set<std::uint32_t> seen_relations;
  while (!pending.empty()) {
    TypeVarRef next = pending.back();
    pending.pop_back();
    const Unknown& unknown = solver_.at(*next);
    if (unknown.pinned || unknown.birth < mark) return true;
    for (std::uint32_t index : unknown.watchers) {
      if (relations_[index].is_solved || !seen_relations.insert(index).second) continue;
      for (TypeVarRef& other : unknowns_of(relations_[index])) {
        if (seen.insert(other.get()).second) pending.push_back(std::move(other));
      }
    }
  }
  return false;
}

}  // namespace relay::typecheck
