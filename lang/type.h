#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/dim.h"
#include "lang/dtype.h"
#include "lang/ref.h"
#include "lang/type_var.h"

namespace relay::lang {

// dtype of a tensor type: known, or a variable of kind DType.
class DTypeTerm {
 public:
  DTypeTerm(DType known) : known_(known) {}
  DTypeTerm(TypeVarRef var) : var_(std::move(var)) {}
  bool is_known() const { return !var_; }
  DType known() const { return known_; }
  const TypeVarRef& var() const { return var_; }
  friend bool operator==(const DTypeTerm& a, const DTypeTerm& b) {
    return a.var_ == b.var_ && (a.var_ || a.known_ == b.known_);
  }

 private:
  DType known_ = DType::Bool;
  TypeVarRef var_;
};

// Shape of a tensor type: dims of a known rank, or a variable of kind Shape.
class Shape {
 public:
  Shape() = default;
  Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  Shape(TypeVarRef var) : var_(std::move(var)) {}
  bool has_rank() const { return !var_; }
  std::size_t rank() const { return dims_.size(); }
  const std::vector<Dim>& dims() const { return dims_; }
  const Dim& operator[](std::size_t axis) const { return dims_[axis]; }
  const TypeVarRef& var() const { return var_; }
  friend bool operator==(const Shape& a, const Shape& b) {
    return a.var_ == b.var_ && (a.var_ || a.dims_ == b.dims_);
  }

 private:
  std::vector<Dim> dims_;
  TypeVarRef var_;
};

struct TypeDef;  // an ADT (lang/module.h)

enum class TypeKind : std::uint8_t {
  Tensor,
  Tuple,
  Function,
  Adt,
  Reference,
  Var,
  Dimension,
  Incomplete
};

class TypeNode;
using Type = Ref<const TypeNode>;  // null: not inferred yet

// What a type knows of its parts without a walk.
struct TypeFacts {
  bool has_unknowns = false;  // a flexible variable, or `_`, occurs in it
  std::uint32_t size = 1;     // number of its parts, written out as a tree; saturates
  std::uint32_t depth = 1;    // of that tree, in levels
};
TypeFacts facts_of(const Shape& shape, const DTypeTerm& dtype);
TypeFacts facts_of(const Dim& dim);
TypeFacts facts_of(const std::vector<Type>& parts);
TypeFacts join(TypeFacts facts, const Type& part);

// Immutable. Make through the functions below.
class TypeNode : public Counted {
 public:
  const TypeKind kind;
  const bool has_unknowns;
  const std::uint32_t size;
  const std::uint32_t depth;

 protected:
  TypeNode(TypeKind kind, TypeFacts facts)
      : kind(kind), has_unknowns(facts.has_unknowns), size(facts.size), depth(facts.depth) {}
};

struct TensorType final : TypeNode {
  static constexpr TypeKind kKind = TypeKind::Tensor;
  TensorType(Shape shape, DTypeTerm dtype)
      : TypeNode(kKind, facts_of(shape, dtype)), shape(std::move(shape)), dtype(std::move(dtype)) {}
  Shape shape;
  DTypeTerm dtype;
};
struct TupleType final : TypeNode {
  static constexpr TypeKind kKind = TypeKind::Tuple;
  explicit TupleType(std::vector<Type> fields)
      : TypeNode(kKind, facts_of(fields)), fields(std::move(fields)) {}
  std::vector<Type> fields;
};
struct FunctionType final : TypeNode {
  static constexpr TypeKind kKind = TypeKind::Function;
  FunctionType(std::vector<Type> params, Type result, std::vector<TypeVarRef> quantified = {})
      : TypeNode(kKind, join(facts_of(params), result)),
        params(std::move(params)),
        result(std::move(result)),
        quantified(std::move(quantified)) {}
  std::vector<Type> params;
  Type result;
  std::vector<TypeVarRef> quantified;  // `fn [A](A) -> A`; empty for an ordinary function type
};
struct AdtType final : TypeNode {
  static constexpr TypeKind kKind = TypeKind::Adt;
  AdtType(const TypeDef* def, std::vector<Type> args)
      : TypeNode(kKind, facts_of(args)), def(def), args(std::move(args)) {}
  const TypeDef* def;  // owned by the module
  std::vector<Type> args;
};
struct ReferenceType final : TypeNode {
  static constexpr TypeKind kKind = TypeKind::Reference;
  explicit ReferenceType(Type content)
      : TypeNode(kKind, join(TypeFacts(), content)), content(std::move(content)) {}
  Type content;
};
struct VarType final : TypeNode {
  static constexpr TypeKind kKind = TypeKind::Var;
  explicit VarType(TypeVarRef var) : TypeNode(kKind, {var->flexible, 1}), var(std::move(var)) {}
  TypeVarRef var;  // kind Type
};
// A dim as an argument of a data type: the `3` of `Vec[3]`. Occurs nowhere else.
struct DimensionType final : TypeNode {
  static constexpr TypeKind kKind = TypeKind::Dimension;
  explicit DimensionType(Dim dim) : TypeNode(kKind, facts_of(dim)), dim(std::move(dim)) {}
  Dim dim;
};
struct IncompleteType final : TypeNode {  // `_`
  static constexpr TypeKind kKind = TypeKind::Incomplete;
  IncompleteType() : TypeNode(kKind, {true, 1}) {}
};

// Checked downcast: null when `type` is null or of another kind.
template <class T>
const T* as(const Type& type) {
  return type && type->kind == T::kKind ? static_cast<const T*>(type.get()) : nullptr;
}

Type tensor_type(Shape shape, DTypeTerm dtype);
Type scalar_type(DType dtype);
Type tuple_type(std::vector<Type> fields);
Type unit_type();
Type function_type(std::vector<Type> params, Type result, std::vector<TypeVarRef> quantified = {});
Type adt_type(const TypeDef* def, std::vector<Type> args = {});
Type reference_type(Type content);
Type var_type(TypeVarRef var);
Type dimension_type(Dim dim);
Type incomplete_type();

// True for a rank-0 tensor of a known dtype.
bool is_scalar(const Type& type);
// The same of an integer, which wraps around.
bool is_integer_scalar(const Type& type);
// True when no unknown, no `_` and no rigid Type/Shape/DType variable occurs (dims may be
// symbolic).
bool is_ground(const Type& type);

// What each variable stands for. A variable without entry stays. Type-kind variables map to `type`,
// Shape to `shape`, DType to `dtype`, Dim to `dim`.
struct TypeSubstitution {
  std::unordered_map<const TypeVar*, Type> types;
  std::unordered_map<const TypeVar*, Shape> shapes;
  std::unordered_map<const TypeVar*, DTypeTerm> dtypes;
  std::unordered_map<const TypeVar*, Dim> dims;
  bool empty() const { return types.empty() && shapes.empty() && dtypes.empty() && dims.empty(); }
};
Type substitute(const Type& type, const TypeSubstitution& substitution);
// Adds "`var` stands for `value`"; a Dim variable's value is a DimensionType. Type and Dim
// variables only, as data types have them.
void bind_argument(TypeSubstitution& substitution, const TypeVar& var, const Type& value);
Dim substitute(const Dim& dim, const TypeSubstitution& substitution);
Shape substitute(const Shape& shape, const TypeSubstitution& substitution);

// Each variable that occurs, once, in order of first occurrence.
std::vector<TypeVarRef> variables_of(const Type& type);

// Structural equality; rigid variables are equal by identity, `quantified` up to renaming.
bool equal(const Type& a, const Type& b);
std::size_t hash(const Type& type);

// Relay's notation: `Tensor[(3, n), float32]`, `float32`, `fn (A) -> B`, `List[A]`, `(A, B)`,
// `(A,)`. A tensor type whose shape is a variable prints as `Tensor[s, float32]`.
std::string to_string(const Type& type);
std::string to_string(const Shape& shape);
std::string to_string(const DTypeTerm& dtype);

}  // namespace relay::lang
