#pragma once

#include <string>
#include <vector>

#include "lang/expr.h"

namespace relay::ad {

// The type of adjoints (and tangents) of a primal type: a float tensor's is itself, an integer's or
// boolean's is (), a tuple's is pointwise. Functions, references and data types: () if nothing in
// them is a float, else null.
lang::Type tangent_type(const lang::Type& primal);
// Is this `()`, the tangent type of what has no derivative?
bool is_unit(const lang::Type& type);

// Straight-line code under construction.
class Emitter {
 public:
  // Binds `value` unless it is an atom; returns the atom.
  lang::Expr emit(const std::string& name, lang::Expr value);
  void append(const std::vector<lang::Binding>& bindings);
  std::vector<lang::Binding> take() { return std::move(bindings_); }

 private:
  std::vector<lang::Binding> bindings_;
};

// What is known of the adjoint of one value: nothing yet (a symbolic zero), an expression of the
// tangent type, or, for tuples, something per field.
class Adjoint {
 public:
  bool is_zero() const;
  // Adds an expression of tangent type `type`. `()`-typed contributions are dropped.
  void add(const lang::Expr& contribution, const lang::Type& type, Emitter& emitter);
  // Adds to field `index` of a tuple adjoint.
  void add_field(std::uint32_t index, const lang::Expr& contribution,
                 const lang::Type& tuple_tangent, Emitter& emitter);
  // The adjoint as an expression of tangent type `type`; zeros (like `primal`, when given) where
  // nothing arrived.
  lang::Expr value(const lang::Type& type, const lang::Expr& primal, Emitter& emitter) const;
  // Field `index`, null for a zero.
  lang::Expr field(std::uint32_t index, const lang::Type& tuple_tangent, Emitter& emitter) const;

 private:
  void split(const lang::TupleType& tuple, Emitter& emitter);
  lang::Expr whole_;
  std::vector<Adjoint> fields_;
};

// Zeros of a tangent type; `primal` gives the shape where dims are symbolic.
lang::Expr zero_of(const lang::Type& tangent, const lang::Expr& primal);

// An adjoint as the user sees it: of the primal's own type, integer and boolean leaves zero.
lang::Expr as_gradient(const lang::Expr& adjoint, const lang::Type& primal_type,
                       const lang::Expr& primal);

}  // namespace relay::ad
