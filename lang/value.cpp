#include "lang/value.h"

#include <unordered_set>
#include <vector>

#include "lang/diagnostic.h"

namespace relay::lang {
// Takes over one count of `object`.
Value Value::from_object(ValueKind kind, Counted* object) {
  Value value;
  value.kind_ = kind;
  value.bits_ = reinterpret_cast<std::uint64_t>(object);
  return value;
}

Value Value::tensor(TensorRef tensor) {
  if (tensor->rank() == 0) return scalar(tensor->dtype(), tensor->bits_at(0));
  return from_object(ValueKind::Tensor, tensor.detach());
}

Value Value::tuple(Ref<TupleCell> cell) { return from_object(ValueKind::Tuple, cell.detach()); }
Value Value::adt(Ref<AdtCell> cell) { return from_object(ValueKind::Adt, cell.detach()); }
Value Value::closure(Ref<ClosureCell> cell) {
  return from_object(ValueKind::Closure, cell.detach());
}

Value Value::reference(Ref<ReferenceCell> cell) {
  return from_object(ValueKind::Reference, cell.detach());
}

Value Value::op(const OpDef* op) {
  Value value;
  value.kind_ = ValueKind::Operator;
  value.bits_ = reinterpret_cast<std::uint64_t>(op);
  return value;
}

Value Value::constructor(const Constructor* constructor) {
  Value value;
  value.kind_ = ValueKind::Constructor;
  value.bits_ = reinterpret_cast<std::uint64_t>(constructor);
  return value;
}

Value Value::unit() {
  // One cell for all; never destroyed, since values with static storage may outlive it.
  static const Value& unit = *new Value(tuple(TupleCell::make(std::size_t{0})));
  return unit;
}

TensorRef Value::to_tensor() const {
  if (is_scalar()) return Tensor::scalar(dtype_, bits_);
  RELAY_CHECK(is_tensor(), "not a tensor");
  return TensorRef(&as_tensor());
}

Type type_of_tensor(const Tensor& tensor) {
  std::vector<Dim> dims(tensor.shape().begin(), tensor.shape().end());
  return tensor_type(Shape(std::move(dims)), tensor.dtype());
}

namespace {

// Compares without recursion. Pairs of shared cells are compared once: values are graphs, and a
// graph may be exponentially smaller than the tree it stands for.
class BitComparison {
 public:
  bool run(const Value& a, const Value& b) {
    open_.push_back({&a, &b});
    while (!open_.empty()) {
      const auto [x, y] = open_.back();
      open_.pop_back();
      if (!equal_head(*x, *y)) return false;
    }
    return true;
  }

 private:
  bool equal_head(const Value& a, const Value& b) {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
      case ValueKind::Empty:
        return true;
      case ValueKind::Scalar:
        return a.dtype() == b.dtype() && a.bits() == b.bits();
      case ValueKind::Tensor:
        return a.bits() == b.bits() || bit_equal(a.as_tensor(), b.as_tensor());
      case ValueKind::Closure:
      case ValueKind::Operator:
      case ValueKind::Constructor:
        return a.bits() == b.bits();
      case ValueKind::Tuple:
        return equal_fields(a, b, a.as_tuple().fields(), b.as_tuple().fields());
      case ValueKind::Adt:
        return &a.as_adt().constructor() == &b.as_adt().constructor() &&
               equal_fields(a, b, a.as_adt().fields(), b.as_adt().fields());
      case ValueKind::Reference: {
        Value& x = a.as_reference().content;
        Value& y = b.as_reference().content;
        return equal_fields(a, b, {&x, 1}, {&y, 1});
      }
    }
    return false;
  }

  bool equal_fields(const Value& a, const Value& b, std::span<Value> x, std::span<Value> y) {
    if (x.size() != y.size()) return false;
    if (a.bits() == b.bits()) return true;
    const bool shared = !a.is_unique() && !b.is_unique();
    if (shared || a.kind() == ValueKind::Reference) {  // references may form cycles
      if (!seen_.insert({a.bits(), b.bits()}).second) return true;
    }
    for (std::size_t i = x.size(); i-- > 0;) open_.push_back({&x[i], &y[i]});
    return true;
  }

  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  struct PairHash {
    std::size_t operator()(const Pair& p) const { return (p.first * 31) ^ (p.second >> 4); }
  };
  std::vector<std::pair<const Value*, const Value*>> open_;
  std::unordered_set<Pair, PairHash> seen_;
};

}  // namespace

bool bit_equal(const Value& a, const Value& b) { return BitComparison().run(a, b); }

}  // namespace relay::lang
