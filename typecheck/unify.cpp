#include "typecheck/unify.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace relay::typecheck {

using namespace lang;

namespace {

constexpr int kOperandKinds = static_cast<int>(PrimOperands::kAnyDType) + 1;

std::string_view words_of(PrimOperands operands) {
  switch (operands) {
    case PrimOperands::kNumeric:
      return "a number";
    case PrimOperands::kFloat:
      return "a float";
    case PrimOperands::kInt:
      return "an integer";
    case PrimOperands::kBool:
      return "`bool`";
    case PrimOperands::kBits:
      return "an integer or `bool`";
    case PrimOperands::kAnyDType:
      return "a dtype";
  }
  return "";
}

std::string required_words(std::uint8_t requirements) {
  std::string words;
  for (int i = 0; i < kOperandKinds; ++i) {
    if (!(requirements >> i & 1)) continue;
    if (!words.empty()) words += " and ";
    words += words_of(static_cast<PrimOperands>(i));
  }
  return words;
}

bool satisfiable(std::uint8_t requirements) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (Solver::accepts(requirements, static_cast<DType>(i))) return true;
  }
  return false;
}

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

Unknown* Solver::find(const TypeVar& var) {
  if (!var.flexible || var.id < base_ || var.id - base_ >= unknowns_.size()) return nullptr;
  Unknown& unknown = unknowns_[var.id - base_];
  return unknown.var.get() == &var ? &unknown : nullptr;
}

Unknown& Solver::at(const TypeVar& var) {
  Unknown* unknown = find(var);
  RELAY_CHECK(unknown != nullptr, "an unknown of another solver");
  return *unknown;
}

// --- Reading ---

Type Solver::head(const Type& type) {
  Type current = type;
  while (const VarType* var = as<VarType>(current)) {
    Unknown* unknown = find(*var->var);
    if (!unknown || !unknown->is_bound()) break;
    current = std::get<Type>(unknown->value);
  }
  // Shortens the way for the next reader.
  if (current != type) {
    if (Unknown* unknown = find(*as<VarType>(type)->var)) unknown->value = current;
  }
  return current;
}

Shape Solver::resolve(const Shape& shape) {
  if (!shape.has_rank()) {
    Unknown* unknown = find(*shape.var());
    if (!unknown || !unknown->is_bound()) return shape;
    Shape known = resolve(std::get<Shape>(unknown->value));
    find(*shape.var())->value = known;
    return known;
  }
  if (std::none_of(shape.dims().begin(), shape.dims().end(),
                   [this](const Dim& dim) { return has_bound(dim); })) {
    return shape;
  }
  std::vector<Dim> dims;
  dims.reserve(shape.rank());
  for (const Dim& dim : shape.dims()) dims.push_back(resolve(dim));
  return Shape(std::move(dims));
}

DTypeTerm Solver::resolve(const DTypeTerm& dtype) {
  DTypeTerm current = dtype;
  while (!current.is_known()) {
    Unknown* unknown = find(*current.var());
    if (!unknown || !unknown->is_bound()) break;
    current = std::get<DTypeTerm>(unknown->value);
  }
  return current;
}

bool Solver::has_bound(const Dim& dim) {
  bool found = false;
  if (dim.is_constant() || dim.is_any()) return found;
  dim.for_each_variable([&](const TypeVarRef& var) {
    const Unknown* unknown = find(*var);
    found |= unknown && unknown->is_bound();
  });
  return found;
}

Dim Solver::resolve(const Dim& dim) {
  if (!has_bound(dim)) return dim;
  return dim.substitute([this](const TypeVarRef& var) -> std::optional<Dim> {
    Unknown* unknown = find(*var);
    if (!unknown || !unknown->is_bound()) return std::nullopt;
    Dim known = resolve(std::get<Dim>(unknown->value));
    find(*var)->value = known;
    return known;
  });
}

namespace {

// The list with each element replaced; false if nothing changed.
template <class F>
bool map_list(const std::vector<Type>& list, std::vector<Type>& out, F&& f) {
  bool changed = false;
  out.reserve(list.size());
  for (const Type& type : list) {
    out.push_back(f(type));
    changed |= out.back() != type;
  }
  return changed;
}

}  // namespace

Type Solver::checked_size(Type type) {
  if (type->size > kLargestType) {
    fail(DiagnosticKind::TypeTooLarge, "a type would have more than 100,000 parts");
  }
  return type;
}

Type Solver::resolve(const Type& type) {
  if (!type || !type->has_unknowns) return type;
  auto again = [this](const Type& t) { return resolve(t); };
  switch (type->kind) {
    case TypeKind::Tensor: {
      const auto& tensor = *as<TensorType>(type);
      DTypeTerm dtype = resolve(tensor.dtype);
      if (dtype == tensor.dtype && tensor.shape.has_rank() &&
          std::none_of(tensor.shape.dims().begin(), tensor.shape.dims().end(),
                       [this](const Dim& dim) { return has_bound(dim); })) {
        return type;
      }
      Shape shape = resolve(tensor.shape);
      if (shape == tensor.shape && dtype == tensor.dtype) return type;
      return tensor_type(std::move(shape), std::move(dtype));
    }
    case TypeKind::Tuple: {
      std::vector<Type> fields;
      if (!map_list(as<TupleType>(type)->fields, fields, again)) return type;
      return checked_size(tuple_type(std::move(fields)));
    }
    case TypeKind::Function: {
      const auto& function = *as<FunctionType>(type);
      std::vector<Type> params;
      bool changed = map_list(function.params, params, again);
      Type result = resolve(function.result);
      if (!changed && result == function.result) return type;
      return checked_size(function_type(std::move(params), std::move(result), function.quantified));
    }
    case TypeKind::Adt: {
      const auto& adt = *as<AdtType>(type);
      std::vector<Type> args;
      if (!map_list(adt.args, args, again)) return type;
      return checked_size(adt_type(adt.def, std::move(args)));
    }
    case TypeKind::Reference: {
      Type content = resolve(as<ReferenceType>(type)->content);
      return content == as<ReferenceType>(type)->content ? type
                                                         : reference_type(std::move(content));
    }
    case TypeKind::Dimension: {
      Dim dim = resolve(as<DimensionType>(type)->dim);
      return dim == as<DimensionType>(type)->dim ? type : dimension_type(std::move(dim));
    }
    case TypeKind::Var: {
      Type known = head(type);
      if (as<VarType>(known)) return known;
      Type full = resolve(known);
      if (full != known) find(*as<VarType>(type)->var)->value = full;
      return full;
    }
    case TypeKind::Incomplete:
      return type;
  }
  return type;
}

std::vector<TypeVarRef> Solver::unknowns_of(const Type& type) {
  std::vector<TypeVarRef> found;
  const Type known = resolve(type);
  if (!known || !known->has_unknowns) return found;
  for_each_type_variable(known, [&](const TypeVarRef& var) {
    if (!find(*var)) return;
    if (std::find(found.begin(), found.end(), var) == found.end()) found.push_back(var);
  });
  return found;
}

// --- Showing ---

namespace {

constexpr std::uint32_t kLongestShown = 200;  // parts of a type

// Nobody reads more than a screen: of a large type, parts that are large themselves show as `...`.
Type shortened(const Type& type, std::uint32_t room = kLongestShown) {
  if (!type || type->size <= room) return type;
  auto list = [&](const std::vector<Type>& parts) {
    std::vector<Type> result;
    for (const Type& part : parts)
      result.push_back(shortened(part, room / static_cast<std::uint32_t>(parts.size() + 1)));
    return result;
  };
  static const Type ellipsis = var_type(TypeVar::rigid(VarKind::Type, "..."));
  if (type->size > room && room < 2) return ellipsis;
  if (const auto* tuple = as<TupleType>(type)) return tuple_type(list(tuple->fields));
  if (const auto* adt = as<AdtType>(type)) return adt_type(adt->def, list(adt->args));
  if (const auto* function = as<FunctionType>(type); function && function->quantified.empty())
    return function_type(list(function->params), shortened(function->result, room / 2));
  return type;
}

}  // namespace

// A nameless variable prints as `_`. A literal shows the dtype that it has if nothing else is said.
std::string Solver::show(const Type& type) {
  Type known = shortened(resolve(type));
  TypeSubstitution defaults;
  for (const TypeVarRef& var : unknowns_of(known)) {
    const Unknown& unknown = at(*var);
    if (var->kind != VarKind::DType || !unknown.literal) continue;
    bool is_integer = accepts(unknown.requirements, DType::Int32);
    defaults.dtypes.emplace(var.get(), DTypeTerm(is_integer ? DType::Int32 : DType::Float32));
  }
  return to_string(defaults.empty() ? known : substitute(known, defaults));
}

std::string Solver::show(const Shape& shape) { return to_string(resolve(shape)); }

std::string Solver::show(const DTypeTerm& dtype) { return to_string(resolve(dtype)); }

std::string Solver::show(const Dim& dim) { return resolve(dim).to_string(); }

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
      unify_lists(f.params, g.params);
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
      failure.diagnostics.front().message =
          fmt::format("axis {} is {} and {}", i, show(a[i]), show(b[i]));
      throw;
    }
  }
}

bool Solver::accepts(std::uint8_t requirements, DType dtype) {
  for (int i = 0; i < kOperandKinds; ++i) {
    if ((requirements >> i & 1) && !lang::accepts(static_cast<PrimOperands>(i), dtype))
      return false;
  }
  return true;
}

void Solver::bind_dtype(Unknown& unknown, const DTypeTerm& dtype) {
  if (dtype.is_known()) {
    if (!accepts(unknown.requirements, dtype.known())) {
      fail(DiagnosticKind::DTypeMismatch, fmt::format("dtype `{}` is not {}", to_string(dtype),
                                                      required_words(unknown.requirements)));
    }
    return bind(unknown, dtype);
  }
  Unknown* other = find(*dtype.var());
  if (!other) {
    // A written dtype variable: what it may be instantiated with cannot be limited here.
    if (!satisfiable(unknown.requirements)) {
      fail(DiagnosticKind::DTypeMismatch,
           fmt::format("dtype `{}` is not {}", show(dtype), required_words(unknown.requirements)));
    }
    return bind(unknown, dtype);
  }
  std::uint8_t both = unknown.requirements | other->requirements;
  if (!satisfiable(both)) {
    // A literal is spoken of by the dtype that it has if nothing else is said.
    for (const auto& [literal, demand] : {std::pair{&unknown, other}, std::pair{other, &unknown}}) {
      if (literal->literal && literal->literal->is_float) {
        fail(DiagnosticKind::DTypeMismatch,
             fmt::format("dtype `float32` is not {}", required_words(demand->requirements)));
      }
    }
    fail(DiagnosticKind::DTypeMismatch, fmt::format("no dtype is {}", required_words(both)));
  }
  other->requirements = both;
  if (!other->literal) other->literal = unknown.literal;
  tie(unknown, dtype.var());
  bind(unknown, dtype);
}

void Solver::unify(const DTypeTerm& left, const DTypeTerm& right) {
  DTypeTerm a = resolve(left);
  DTypeTerm b = resolve(right);
  if (a == b) return;
  Unknown* a_unknown = a.is_known() ? nullptr : find(*a.var());
  Unknown* b_unknown = b.is_known() ? nullptr : find(*b.var());
  if (a_unknown && b_unknown) {
    return a_unknown->var->id > b_unknown->var->id ? bind_dtype(*a_unknown, b)
                                                   : bind_dtype(*b_unknown, a);
  }
  if (a_unknown) return bind_dtype(*a_unknown, b);
  if (b_unknown) return bind_dtype(*b_unknown, a);
  fail(DiagnosticKind::DTypeMismatch,
       fmt::format("dtype `{}` is not `{}`", to_string(a), to_string(b)));
}

void Solver::require(const DTypeTerm& dtype, PrimOperands operands) {
  DTypeTerm known = resolve(dtype);
  if (known.is_known()) {
    if (!lang::accepts(operands, known.known())) {
      fail(DiagnosticKind::DTypeMismatch,
           fmt::format("dtype `{}` is not {}", to_string(known), words_of(operands)));
    }
    return;
  }
  Unknown* unknown = find(*known.var());
  if (!unknown) return;
  std::uint8_t both = unknown->requirements | bit(operands);
  if (!satisfiable(both)) {
    if (unknown->literal && unknown->literal->is_float) {
      fail(DiagnosticKind::DTypeMismatch,
           fmt::format("dtype `float32` is not {}", words_of(operands)));
    }
    fail(DiagnosticKind::DTypeMismatch, fmt::format("no dtype is {}", required_words(both)));
  }
  unknown->requirements = both;
}

// --- Dims ---

namespace {

// Does `var` occur in the dim other than as the term `coefficient * var`?
bool occurs_elsewhere(const Dim& dim, const TypeVarRef& var, const Dim::Term* term) {
  for (const Dim::Term& other : dim.terms()) {
    if (&other == term) continue;
    for (const Dim::AtomRef& atom : other.atoms) {
      if (atom->variable == var) return true;
      if (!atom->division) continue;
      bool found = false;
      auto look = [&](const TypeVarRef& inside) { found |= inside == var; };
      atom->division->first.for_each_variable(look);
      atom->division->second.for_each_variable(look);
      if (found) return true;
    }
  }
  return false;
}

}  // namespace

// `difference` = a - b is to be 0. Looks for an unknown of coefficient 1 or -1 (or one that is
// alone and divides evenly); the youngest is bound, so that old unknowns stay the names of things.
bool Solver::solve_dim(const Dim& a, const Dim& b, const Dim& difference) {
  Unknown* best = nullptr;
  const Dim::Term* best_term = nullptr;
  for (const Dim::Term& term : difference.terms()) {
    if (term.atoms.size() != 1 || !term.atoms[0]->variable) continue;
    bool alone = difference.terms().size() == 1;
    if (term.coefficient != 1 && term.coefficient != -1 && !alone) continue;
    Unknown* unknown = find(*term.atoms[0]->variable);
    if (unknown && difference.constant() % term.coefficient != 0) {
      fail(DiagnosticKind::ShapeMismatch, fmt::format("`{}` cannot be `{}`", show(a), show(b)));
    }
    if (!unknown || (best && best->var->id > unknown->var->id)) continue;
    if (occurs_elsewhere(difference, unknown->var, &term)) continue;
    best = unknown;
    best_term = &term;
  }
  if (!best) return false;
  Dim rest = difference - Dim(best_term->coefficient) * Dim::variable(best->var);
  Dim value = best_term->coefficient == 1    ? Dim(0) - rest
              : best_term->coefficient == -1 ? rest
                                             : Dim(-rest.constant() / best_term->coefficient);
  if (value.is_constant() && value.constant() < 0) {
    fail(DiagnosticKind::ShapeMismatch, fmt::format("`{}` cannot be `{}`", show(a), show(b)));
  }
  value.for_each_variable([&](const TypeVarRef& var) { tie(*best, var); });
  bind(*best, std::move(value));
  return true;
}

void Solver::unify(const Dim& left, const Dim& right) {
  Dim a = resolve(left);
  Dim b = resolve(right);
  if (a.is_any() || b.is_any()) {
    const Dim& other = a.is_any() ? b : a;
    TypeVarRef var = other.is_any() ? nullptr : other.as_variable();
    if (Unknown* unknown = var ? find(*var) : nullptr) bind(*unknown, Dim::any());
    return;
  }
  if (a == b) return;
  Dim difference = a - b;
  if (solve_dim(a, b, difference)) return;
  if (has_unknown(difference)) {
    equations_.push_back({a, b});
  } else if (!is_assumed(difference)) {
    fail(DiagnosticKind::ShapeMismatch, fmt::format("`{}` is not `{}`", show(a), show(b)));
  }
}

bool Solver::has_unknown(const Dim& dim) {
  bool found = false;
  dim.for_each_variable([&](const TypeVarRef& var) { found |= find(*var) != nullptr; });
  return found;
}

bool Solver::is_assumed(const Dim& difference) const {
  return std::any_of(assumed_.begin(), assumed_.end(), [&](const Dim& zero) {
    return zero == difference || zero == Dim(0) - difference;
  });
}

void Solver::relate(Equation equation) {
  Dim a = resolve(equation.a);
  Dim b = resolve(equation.b);
  Dim difference = a - b;
  if (a.is_any() || b.is_any() || a == b) return;
  try {
    if (solve_dim(a, b, difference)) return;
  } catch (const Failure&) {
    refuse(equation, a, b);
  }
  if (has_unknown(difference)) {
    equations_.push_back(std::move(equation));
  } else if (difference.is_constant()) {
    refuse(equation, a, b);
  }
}

void Solver::refuse(const Equation& equation, const Dim& a, const Dim& b) {
  fail(DiagnosticKind::ShapeMismatch,
       fmt::format("`{}` needs two extents to be equal, and they are `{}` and `{}`",
                   equation.needed_by, show(a), show(b)),
       equation.span);
}

void Solver::retry_equations() {
  while (dims_changed_) {
    dims_changed_ = false;
    if (equations_.empty()) return;
    std::vector<Equation> open = std::move(equations_);
    equations_.clear();
    for (Equation& equation : open) {
      if (equation.needed_by.empty()) {
        unify(equation.a, equation.b);
      } else {
        relate(std::move(equation));
      }
    }
  }
}

void Solver::watch(const TypeVar& var, std::uint32_t relation) {
  Unknown& unknown = at(var);
  if (!unknown.watchers.empty() && unknown.watchers.back() == relation) return;
  unknown.watchers.push_back(relation);
}

std::vector<std::uint32_t> Solver::take_woken() { return std::exchange(woken_, {}); }

}  // namespace relay::typecheck
