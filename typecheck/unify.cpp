#include "typecheck/unify.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "lang/stop.h"

namespace relay::typecheck {

using namespace lang;

namespace {

void visit_dims(const Shape& shape, const std::function<void(const TypeVarRef&)>& visit) {
  if (!shape.has_rank()) {
    visit(shape.var());
    return;
  }
  for (const Dim& dim : shape.dims()) {
    if (!dim.is_constant()) dim.for_each_variable(visit);
  }
}

}  // namespace

void for_each_type_variable(const Type& type, const std::function<void(const TypeVarRef&)>& visit) {
  if (!type) return;
  switch (type->kind) {
    case TypeKind::Tensor: {
      const auto& tensor = *as<TensorType>(type);
      visit_dims(tensor.shape, visit);
      if (!tensor.dtype.is_known()) visit(tensor.dtype.var());
      return;
    }
    case TypeKind::Tuple:
      for (const Type& field : as<TupleType>(type)->fields) for_each_type_variable(field, visit);
      return;
    case TypeKind::Function: {
      const auto& function = *as<FunctionType>(type);
      for (const Type& param : function.params) for_each_type_variable(param, visit);
      for_each_type_variable(function.result, visit);
      return;
    }
    case TypeKind::Adt:
      for (const Type& arg : as<AdtType>(type)->args) for_each_type_variable(arg, visit);
      return;
    case TypeKind::Reference:
      for_each_type_variable(as<ReferenceType>(type)->content, visit);
      return;
    case TypeKind::Var:
      visit(as<VarType>(type)->var);
      return;
    case TypeKind::Dimension:
      as<DimensionType>(type)->dim.for_each_variable(visit);
      return;
    case TypeKind::Incomplete:
      return;
  }
}

namespace {

// The memory of a solver that is gone, for the next one: a solver lives for one definition, and a
// buffer of its size, freed each time, makes the allocator tidy up all of its small blocks.
std::vector<Unknown>& spare() {
  static thread_local std::vector<Unknown> memory;
  return memory;
}

}  // namespace

Solver::Solver() : unknowns_(std::exchange(spare(), {})) {
  // Ids only grow, so the unknowns of one solver sit almost densely behind the first.
  base_ = TypeVar::unknown(VarKind::Type)->id;
  next_id_ = base_;
}

Solver::~Solver() {
  constexpr std::size_t kMostKept = 10'000;
  unknowns_.clear();
  if (unknowns_.capacity() <= kMostKept) spare() = std::move(unknowns_);
}

TypeVarRef Solver::fresh(VarKind kind) {
  TypeVarRef var = TypeVar::unknown(kind);
  std::uint64_t index = var->id - base_;
  if (index >= unknowns_.size()) unknowns_.resize(index + 1);
  Unknown& unknown = unknowns_[index];
  unknown.var = var;
  unknown.birth = var->id;
  next_id_ = var->id + 1;
  return var;
}

Type Solver::error_type() {
  if (!error_type_) error_type_ = fresh_type();
  return error_type_;
}

bool Solver::mentions_error(const Type& type) {
  if (!error_type_) return false;
  bool found = false;
  const TypeVar* error = as<VarType>(error_type_)->var.get();
  for_each_type_variable(resolve(type),
                         [&](const TypeVarRef& var) { found |= var.get() == error; });
  return found;
}

Unknown& Solver::at(const TypeVar& var) {
  Unknown* unknown = find(var);
  RELAY_CHECK(unknown != nullptr, "an unknown of another solver");
  return *unknown;
}

// --- Binding ---

template <class V>
void Solver::bind(Unknown& unknown, V value) {
  unknown.value = std::move(value);
  if (!unknown.watchers.empty()) {
    woken_.insert(woken_.end(), unknown.watchers.begin(), unknown.watchers.end());
    unknown.watchers = {};
  }
  if (unknown.var->kind == VarKind::Dim) dims_changed_ = true;
}

template void Solver::bind(Unknown&, DTypeTerm);  // for unify_dtype.cpp
template void Solver::bind(Unknown&, Dim);        // for unify_dim.cpp

void Solver::settle(const TypeVar& var, Type type) { bind(at(var), std::move(type)); }
void Solver::settle(const TypeVar& var, Shape shape) { bind(at(var), std::move(shape)); }
void Solver::settle(const TypeVar& var, DTypeTerm dtype) { bind(at(var), std::move(dtype)); }
void Solver::settle(const TypeVar& var, Dim dim) { bind(at(var), std::move(dim)); }

void Solver::tie(Unknown& unknown, const TypeVarRef& var) {
  if (Unknown* inner = find(*var)) {
    inner->birth = std::min(inner->birth, unknown.birth);
    inner->pinned |= unknown.pinned;
  }
}

void Solver::bind_type(Unknown& unknown, const Type& type) {
  Type known = resolve(type);
  if (!known->has_unknowns) return bind(unknown, std::move(known));
  const TypeVar* self = unknown.var.get();
  bool occurs = false;
  for_each_type_variable(known, [&](const TypeVarRef& var) {
    occurs |= var.get() == self;
    tie(unknown, var);
  });
  if (occurs) {
    fail(DiagnosticKind::InfiniteType,
         fmt::format("a type would contain itself: `_` = `{}`", show(known)));
  }
  bind(unknown, known);
}

void Solver::unify_lists(const std::vector<Type>& a, const std::vector<Type>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) unify(a[i], b[i]);
}

// What a function needs is found of what it is given.
void Solver::unify_params(const std::vector<Type>& a, const std::vector<Type>& b) {
  struct Exchange {
    explicit Exchange(bool& flag) : flag(flag) { flag = !flag; }
    ~Exchange() { flag = !flag; }
    bool& flag;
  };
  const Exchange exchange(are_exchanged_);
  unify_lists(a, b);
}

void Solver::unify(const Type& left, const Type& right) {
  if (left == right) return;
  Type a = head(left);
  Type b = head(right);
  if (a == b) return;
  const VarType* a_var = as<VarType>(a);
  const VarType* b_var = as<VarType>(b);
  Unknown* a_unknown = a_var ? find(*a_var->var) : nullptr;
  Unknown* b_unknown = b_var ? find(*b_var->var) : nullptr;
  if (error_type_ && (a == error_type_ || b == error_type_)) {
    if (a_unknown && b_unknown) bind(a == error_type_ ? *b_unknown : *a_unknown, error_type_);
    return;
  }
  if (a_unknown && b_unknown) {
    if (a_unknown == b_unknown) return;
    // The younger one points to the older one.
    return a_unknown->var->id > b_unknown->var->id ? bind_type(*a_unknown, b)
                                                   : bind_type(*b_unknown, a);
  }
  if (a_unknown) return bind_type(*a_unknown, b);
  if (b_unknown) return bind_type(*b_unknown, a);
  auto mismatch = [&]() {
    fail(DiagnosticKind::TypeMismatch, fmt::format("`{}` is not `{}`", show(a), show(b)));
  };
  if (a->kind != b->kind) mismatch();
  switch (a->kind) {
    case TypeKind::Tensor: {
      const auto& x = *as<TensorType>(a);
      const auto& y = *as<TensorType>(b);
      if (!(x.shape == y.shape)) unify(x.shape, y.shape);
      if (!(x.dtype == y.dtype)) unify(x.dtype, y.dtype);
      return;
    }
    case TypeKind::Tuple:
      if (as<TupleType>(a)->fields.size() != as<TupleType>(b)->fields.size()) mismatch();
      return unify_lists(as<TupleType>(a)->fields, as<TupleType>(b)->fields);
    case TypeKind::Function: {
      const auto& f = *as<FunctionType>(a);
      const auto& g = *as<FunctionType>(b);
      if (f.quantified.empty() != g.quantified.empty()) mismatch();
      if (!f.quantified.empty() && !equal(a, b)) mismatch();
      if (f.params.size() != g.params.size()) mismatch();
      unify_params(f.params, g.params);
      return unify(f.result, g.result);
    }
    case TypeKind::Adt:
      if (as<AdtType>(a)->def != as<AdtType>(b)->def) mismatch();
      if (as<AdtType>(a)->args.size() != as<AdtType>(b)->args.size()) mismatch();
      return unify_lists(as<AdtType>(a)->args, as<AdtType>(b)->args);
    case TypeKind::Reference:
      return unify(as<ReferenceType>(a)->content, as<ReferenceType>(b)->content);
    case TypeKind::Var:
      if (a_var->var != b_var->var) mismatch();
      return;
    case TypeKind::Dimension:
      return unify(as<DimensionType>(a)->dim, as<DimensionType>(b)->dim);
    case TypeKind::Incomplete:
      return;
  }
}

void Solver::unify(const Shape& left, const Shape& right) {
  Shape a = resolve(left);
  Shape b = resolve(right);
  Unknown* a_unknown = a.has_rank() ? nullptr : find(*a.var());
  Unknown* b_unknown = b.has_rank() ? nullptr : find(*b.var());
  if (a_unknown && b_unknown) {
    if (a_unknown == b_unknown) return;
    if (a_unknown->var->id < b_unknown->var->id) {
      std::swap(a_unknown, b_unknown);
      std::swap(a, b);
    }
    tie(*a_unknown, b.var());
    return bind(*a_unknown, b);
  }
  if (b_unknown) {
    std::swap(a_unknown, b_unknown);
    std::swap(a, b);
  }
  if (a_unknown) {
    visit_dims(b, [&](const TypeVarRef& var) { tie(*a_unknown, var); });
    return bind(*a_unknown, b);
  }
  if (!a.has_rank() || !b.has_rank()) {
    if (!a.has_rank() && !b.has_rank() && a.var() == b.var()) return;
    fail(DiagnosticKind::ShapeMismatch, fmt::format("shape `{}` is not `{}`", show(a), show(b)));
  }
  if (a.rank() != b.rank()) {
    fail(DiagnosticKind::RankMismatch, fmt::format("rank {} is not {}", a.rank(), b.rank()));
  }
  for (std::size_t i = 0; i < a.rank(); ++i) {
    try {
      unify(a[i], b[i]);
    } catch (Failure& failure) {
      if (lang::is_stop(failure.diagnostics.front().kind)) throw;
      failure.diagnostics.front().message =
          fmt::format("axis {} is {} and {}", i, show(a[i]), show(b[i]));
      throw;
    }
  }
}

// --- Waking ---

void Solver::watch(const TypeVar& var, std::uint32_t relation) {
  Unknown& unknown = at(var);
  if (!unknown.watchers.empty() && unknown.watchers.back() == relation) return;
  unknown.watchers.push_back(relation);
}

std::vector<std::uint32_t> Solver::take_woken() {
  std::vector<std::uint32_t> woken = std::exchange(woken_, {});
  if (woken.size() <= 1) return woken;
  std::unordered_set<std::uint32_t> seen;
  std::erase_if(woken, [&](std::uint32_t relation) { return !seen.insert(relation).second; });
  return woken;
}

}  // namespace relay::typecheck
