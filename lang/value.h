#pragma once

#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lang/cell_memory.h"
#include "lang/dtype.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/ref.h"
#include "lang/tensor.h"

namespace relay::lang {

enum class ValueKind : std::uint8_t {
  Empty,   // no value: an unset slot, or "an error is pending" as a return value
  Scalar,  // rank-0 tensor held inline: dtype and bits
  Tensor,  // rank > 0 (a rank-0 Tensor object is normalised to Scalar)
  Tuple,
  Adt,
  Closure,
  Reference,
  Operator,     // an operator as a function value
  Constructor,  // a constructor with fields as a function value
};

class TupleCell;
class AdtCell;
class ReferenceCell;
class ClosureCell;

// Frees a cell, a Tuple or an Adt, whose last count this is, with all that only it holds.
// Iterative, without memory of its own; while an interrupt waits for its answer it is put off
// (lang/ref.h).
void reclaim_cell(Counted* cell, ValueKind kind) noexcept;

// A run-time value: 16 bytes, counted where it points. One heap layout for both tiers.
class Value {
 public:
  Value() = default;
  static Value scalar(DType dtype, std::uint64_t bits) {
    Value v;
    v.kind_ = ValueKind::Scalar;
    v.dtype_ = dtype;
    v.bits_ = bits;
    return v;
  }
  static Value boolean(bool b) { return scalar(DType::Bool, b ? 1 : 0); }
  static Value tensor(TensorRef tensor);  // rank 0 becomes Scalar
  static Value tuple(Ref<TupleCell> cell);
  static Value adt(Ref<AdtCell> cell);
  static Value closure(Ref<ClosureCell> cell);
  static Value reference(Ref<ReferenceCell> cell);
  static Value op(const OpDef* op);
  static Value constructor(const Constructor* constructor);
  static Value unit();  // the empty tuple

  Value(const Value& o) : kind_(o.kind_), dtype_(o.dtype_), bits_(o.bits_) { retain(); }
  Value(Value&& o) noexcept
      : kind_(std::exchange(o.kind_, ValueKind::Empty)), dtype_(o.dtype_), bits_(o.bits_) {}
  Value& operator=(const Value& o) {
    if (this != &o) {
      Value copy(o);
      swap(copy);
    }
    return *this;
  }
  Value& operator=(Value&& o) noexcept {
    swap(o);
    return *this;
  }
  ~Value() { drop(); }
  void swap(Value& o) noexcept {
    std::swap(kind_, o.kind_);
    std::swap(dtype_, o.dtype_);
    std::swap(bits_, o.bits_);
  }

  ValueKind kind() const { return kind_; }
  bool is_empty() const { return kind_ == ValueKind::Empty; }
  explicit operator bool() const { return kind_ != ValueKind::Empty; }
  bool is_scalar() const { return kind_ == ValueKind::Scalar; }
  bool is_tensor() const { return kind_ == ValueKind::Tensor; }

  DType dtype() const { return dtype_; }        // Scalar
  std::uint64_t bits() const { return bits_; }  // Scalar
  bool truth() const { return bits_ != 0; }     // Scalar bool
  Tensor& as_tensor() const { return *static_cast<Tensor*>(object()); }
  TupleCell& as_tuple() const;
  AdtCell& as_adt() const;
  ReferenceCell& as_reference() const;
  ClosureCell& as_closure() const;
  const OpDef& as_op() const { return *reinterpret_cast<const OpDef*>(bits_); }
  const Constructor& as_constructor() const { return *reinterpret_cast<const Constructor*>(bits_); }
  // The tensor, or a fresh rank-0 tensor of a Scalar.
  TensorRef to_tensor() const;
  // True when nobody else holds the object (its buffer may be reused).
  bool is_unique() const { return is_counted() && object()->is_unique(); }

 private:
  bool is_counted() const { return kind_ >= ValueKind::Tensor && kind_ <= ValueKind::Reference; }
  Counted* object() const { return reinterpret_cast<Counted*>(bits_); }
  static Value from_object(ValueKind kind, Counted* object);
  void retain() const {
    if (is_counted()) object()->retain();
  }
  void drop() {
    if (!is_counted()) return;
    if ((kind_ == ValueKind::Tuple || kind_ == ValueKind::Adt) && object()->is_unique()) {
      reclaim_cell(object(), kind_);
    } else {
      object()->release();
    }
  }
  ValueKind kind_ = ValueKind::Empty;
  DType dtype_ = DType::Bool;
  std::uint64_t bits_ = 0;
};
static_assert(sizeof(Value) == 16);

// Fixed number of values laid out behind the header.
class TupleCell final : public Counted {
 public:
  static Ref<TupleCell> make(std::span<Value> fields);  // moves from `fields`
  static Ref<TupleCell> make(std::size_t count);        // Empty fields, to be filled by the maker
  ~TupleCell() override;
  std::span<Value> fields() const {
    return {reinterpret_cast<Value*>(const_cast<TupleCell*>(this) + 1), count_};
  }
  static void operator delete(TupleCell* cell, std::destroying_delete_t);

 private:
  explicit TupleCell(std::size_t count);
  std::uint32_t count_;
};

class AdtCell final : public Counted {
 public:
  static Ref<AdtCell> make(const Constructor* constructor,
                           std::span<Value> fields);  // moves from `fields`
  // Empty fields, to be filled by the maker.
  static Ref<AdtCell> make(const Constructor* constructor, std::size_t count);
  ~AdtCell() override;
  const Constructor& constructor() const { return *constructor_; }
  std::uint32_t tag() const { return constructor_->tag; }
  std::span<Value> fields() const {
    return {reinterpret_cast<Value*>(const_cast<AdtCell*>(this) + 1), count_};
  }
  static void operator delete(AdtCell* cell, std::destroying_delete_t);

 private:
  AdtCell(const Constructor* constructor, std::size_t count);
  std::uint32_t count_;
  const Constructor* constructor_;
};

class ReferenceCell final : public Counted {
 public:
  ReferenceCell(Value content, std::uint64_t time)
      : content(std::move(content)), made(time), written(time) {}
  explicit ReferenceCell(Value content) : ReferenceCell(std::move(content), 0) {}
  Value content;
  // When, in a count of the references made and written so far.
  std::uint64_t made;
  std::uint64_t written;
  // Of derivatives: the references that hold the adjoint of the content, one for each walk back
  // through code that is under way.
  struct Adjoint {
    std::uint64_t walk;
    Ref<ReferenceCell> cell;
  };
  std::vector<Adjoint> adjoints;
  static void* operator new(std::size_t bytes) { return allocate_cell(bytes); }
  static void operator delete(void* cell) { release_cell(cell, sizeof(ReferenceCell)); }
};

// A function value; each tier derives its own.
class ClosureCell : public Counted {};

inline TupleCell& Value::as_tuple() const { return *static_cast<TupleCell*>(object()); }
inline AdtCell& Value::as_adt() const { return *static_cast<AdtCell*>(object()); }
inline ReferenceCell& Value::as_reference() const { return *static_cast<ReferenceCell*>(object()); }
inline ClosureCell& Value::as_closure() const { return *static_cast<ClosureCell*>(object()); }

// The ground type of a value that holds no function, reference or empty polymorphic constructor:
// enough to type a top-level binding together with its static type. Null where it cannot be told.
Type type_of_tensor(const Tensor& tensor);

// `[[1.0, 2.0], [3.0, 4.0]]`, `1.5`, `True`, `(1, 2)`, `Cons(1, Nil)`, `<function>`. Parses back,
// a tensor that stands alone beside its type, which says its dtype; but for functions, references
// and what is shortened with `...`: tensors of more than `max_elements` elements, values of more
// cells than that, and what would take more than about `max_lines` lines.
struct ValuePrintOptions {
  std::int64_t max_elements = 1000;
  int edge_items = 3;
  std::size_t columns = 100;
  std::size_t max_lines = 0;  // 0: any
};
std::string to_string(const Value& value, const ValuePrintOptions& options = {});

// Same structure and the same bits.
bool bit_equal(const Value& a, const Value& b);

}  // namespace relay::lang
