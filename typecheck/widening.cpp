#include "typecheck/widening.h"

#include <atomic>
#include <vector>

namespace relay::typecheck {

using namespace lang;

namespace {

// Marks are never given twice: types outlive the inference that has marked them.
std::uint32_t next_mark() {
  static std::atomic<std::uint32_t> last = 0;
  std::uint32_t mark = ++last;
  return mark == 0 ? ++last : mark;
}

bool is_open(const Dim& dim, Solver& solver) {
  const TypeVarRef var = dim.is_any() ? nullptr : dim.as_variable();
  return var && solver.find(*var) && !solver.at(*var).is_bound();
}

}  // namespace

class Widening::Marking {
 public:
  Marking(Widening& widening, Entrance entrance, Solver& solver, bool keeps_marks)
      : widening_(widening), entrance_(entrance), solver_(solver), keeps_marks_(keeps_marks) {}

  // `expected` may be null: what is open takes in all.
  Type type(const Type& known, Type expected) {
    if (expected) expected = solver_.head(expected);
    const auto* var = as<VarType>(expected);
    if (var && solver_.find(*var->var)) expected = nullptr;
    switch (known->kind) {
      case TypeKind::Tensor:
        return tensor(known, expected);
      case TypeKind::Tuple: {
        const auto* other = as<TupleType>(expected);
        const auto& fields = as<TupleType>(known)->fields;
        if (expected && (!other || other->fields.size() != fields.size())) return known;
        return tuple_type(list(fields, other ? &other->fields : nullptr));
      }
      case TypeKind::Adt: {
        const auto* other = as<AdtType>(expected);
        const auto& adt = *as<AdtType>(known);
        if (adt.args.empty() || (expected && (!other || other->def != adt.def))) return known;
        return adt_type(adt.def, list(adt.args, other ? &other->args : nullptr));
      }
      case TypeKind::Dimension:
        return expected ? known : dimension_type(dim(as<DimensionType>(known)->dim));
      // What is written to a reference must be what is read from it, and what a function takes is
      // no wider than it says.
      case TypeKind::Reference:
      case TypeKind::Function:
      case TypeKind::Var:
      case TypeKind::Incomplete:
        return known;
    }
    return known;
  }

 private:
  std::vector<Type> list(const std::vector<Type>& known, const std::vector<Type>* expected) {
    std::vector<Type> result;
    for (std::size_t i = 0; i < known.size(); ++i)
      result.push_back(type(known[i], expected ? (*expected)[i] : nullptr));
    return result;
  }

  Type tensor(const Type& known, const Type& expected) {
    const auto& tensor = *as<TensorType>(known);
    if (!tensor.shape.has_rank()) return known;
    if (expected) {
      const auto* other = as<TensorType>(expected);
      if (!other || solver_.resolve(other->shape).has_rank()) return known;
    }
    std::vector<Dim> dims;
    for (const Dim& each : tensor.shape.dims()) dims.push_back(dim(each));
    return tensor_type(Shape(std::move(dims)), tensor.dtype);
  }

  Dim dim(const Dim& known) {
    Entrance place = entrance_;
    place.place = count_++;
    if (known.is_any() || is_open(known, solver_)) return known;
    if (widening_.wide_.count(place)) return Dim::any();
    if (keeps_marks_ && widening_.marks_.count(known.origin())) return known;
    const std::uint32_t mark = next_mark();
    widening_.marks_.emplace(mark, place);
    return known.with_origin(mark);
  }

  Widening& widening_;
  const Entrance entrance_;
  Solver& solver_;
  const bool keeps_marks_;
  std::uint32_t count_ = 0;
};

Type Widening::entered(const Type& type, const Type& expected, Span span, std::size_t operand,
                       Solver& solver, bool keeps_marks) {
  if (!is_marking_ || !span) return type;
  const Entrance entrance{span, static_cast<std::uint32_t>(operand), 0};
  return Marking(*this, entrance, solver, keeps_marks).type(solver.resolve(type), expected);
}

void Widening::meet(const Dim& known) {
  if (is_trying_) return;
  ++meetings_;
  const auto found = marks_.find(known.origin());
  if (found != marks_.end()) is_wider_ |= wide_.insert(found->second).second;
}

void Widening::meet(const Type& given, const Type& known, Solver& solver) {
  const auto* tuple = as<TupleType>(given);
  const auto* other_tuple = as<TupleType>(known);
  if (tuple && other_tuple && tuple->fields.size() == other_tuple->fields.size()) {
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      meet(tuple->fields[i], other_tuple->fields[i], solver);
  }
  const auto* tensor = as<TensorType>(given);
  const auto* other = as<TensorType>(known);
  if (!tensor || !other || !tensor->shape.has_rank() || !other->shape.has_rank() ||
      tensor->shape.rank() != other->shape.rank())
    return;
  for (std::size_t axis = 0; axis < tensor->shape.rank(); ++axis) {
    const Dim& extent = other->shape[axis];
    if (tensor->shape[axis].is_any() && !extent.is_any() && !is_open(extent, solver)) meet(extent);
  }
}

// Each run but the first widens something. Few programs need more than one such run.
bool Widening::begins_again() {
  constexpr int kMostRuns = 8;
  const bool again = ++runs_ < kMostRuns && (is_marking_ ? is_wider_ : meetings_ > 0);
  is_marking_ = true;
  is_wider_ = false;
  marks_.clear();
  return again;
}

}  // namespace relay::typecheck
