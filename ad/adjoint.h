#pragma once

#include <string>
#include <vector>

#include "ad/tangent.h"
#include "lang/expr.h"

namespace relay::ad {

// Straight-line code under construction.
class Emitter {
 public:
  explicit Emitter(Tangents& tangents) : tangents_(&tangents) {}
  Tangents& tangents() const { return *tangents_; }
  // Binds `value` unless it is an atom; returns the atom.
  lang::Expr emit(const std::string& name, lang::Expr value);
  // Code that stands already.
  void append(const std::vector<lang::Binding>& bindings);
  // A copy of the body of `fn` with atoms for its parameters; what it gives, not yet bound.
  lang::Expr body_at(const lang::Function& fn, const std::vector<lang::Expr>& args);
  // The extent of an axis of a tensor, which is an atom: an atom.
  lang::Expr extent_of(const lang::Expr& tensor, std::size_t axis);
  // What the atom is bound to in this code, seen through tuples.
  lang::Expr bound(const lang::Expr& atom) const;
  const std::vector<lang::Binding>& bindings() const { return bindings_; }
  std::vector<lang::Binding> take() { return std::move(bindings_); }

 private:
  Tangents* tangents_;
  std::vector<lang::Binding> bindings_;
};

// What is known of the adjoint of one value: nothing yet (a symbolic zero), an expression of the
// tangent type, or, for tuples, something per field. What is scattered into zeros goes into what is
// there instead: in place, where nobody else holds it, so that reading a few elements of a tensor
// costs no pass over all of them.
class Adjoint {
 public:
  bool is_zero() const;
  // Is it one expression?
  bool is_whole() const { return whole_ != nullptr; }
  // Adds an expression of tangent type `type`. `()`-typed contributions are dropped.
  void add(const lang::Expr& contribution, const lang::Type& type, Emitter& emitter,
           const std::string& name = "d");
  // Adds to field `index` of a tuple adjoint.
  void add_field(std::uint32_t index, const lang::Expr& contribution,
                 const lang::Type& tuple_tangent, Emitter& emitter);
  // Before anything is added: there is something already, which new variables hold. One for each
  // tensor of the type, in order; null for a part of another kind, of which there is nothing yet.
  void start(const lang::Type& type, std::vector<lang::VariableRef>& so_far);
  // Field `index` of a tuple adjoint, to be added to or replaced.
  Adjoint& part(std::uint32_t index, const lang::Type& tuple_tangent, Emitter& emitter);
  // It is this from now on.
  void replace(lang::Expr whole);
  // The adjoint as an expression of tangent type `type`; zeros (like `primal`, when given) where
  // nothing arrived.
  lang::Expr value(const lang::Type& type, const lang::Expr& primal, Emitter& emitter) const;
  // Field `index`, null for a zero.
  lang::Expr field(std::uint32_t index, const lang::Type& tuple_tangent, Emitter& emitter) const;

 private:
  void add_tensor(const lang::Expr& contribution, Emitter& emitter, const std::string& name);
  void split(const lang::TupleType& tuple, Emitter& emitter);
  lang::Expr whole_;
  // While `whole_` has been made by scatters alone: these.
  std::vector<lang::Expr> scatters_;
  std::vector<Adjoint> fields_;
};

}  // namespace relay::ad
