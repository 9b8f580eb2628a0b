#pragma once

#include "ad/adjoint.h"
#include "lang/expr.h"
#include "lang/module.h"
#include "lang/op.h"

namespace relay::ad {

class Tangents;

// References in derivatives. The adjoint of what a reference holds stands in a reference too, its
// adjoint cell: reading adds to it, writing takes it away, for the value that was written. So the
// code of a derivative uses references like any other code, and has derivatives itself. In forward
// mode the tangent of what a reference holds stands in its tangent cell.
//
// The cells belong to a walk, which is what runs between `begin` and `end`, and hold zero at first:
// what a reference from elsewhere held before is a constant, and nothing goes from one walk to
// another. Walks nest. A walk back stands alone, so its cells are those of the one that began last.
// One in forward mode goes along with the code, and with walks of other derivatives in it, which
// may be of the same code: so it is a value, an int64, that all code gets which may use references.
class AdjointCells {
 public:
  AdjointCells(lang::Program& program, Tangents& tangents);
  AdjointCells(const AdjointCells&) = delete;
  AdjointCells& operator=(const AdjointCells&) = delete;

  static lang::Expr begin();
  static lang::Expr begin_forward();  // gives the walk
  static lang::Expr end();            // of the one that began last
  static lang::Type walk_type();
  // Is there an adjoint of what a reference of this type holds?
  bool has_adjoint(const lang::Type& reference);

  // Reverse: y = ref_read(reference).
  void add(const lang::Expr& reference, const lang::Expr& adjoint, Emitter& code);
  // Reverse: the adjoint of `value`, which was written; zero from here on back.
  lang::Expr take(const lang::Expr& reference, const lang::Expr& value, Emitter& code);

  // Forward: the tangent of `value`, which was read.
  lang::Expr get(const lang::Expr& reference, const lang::Expr& value, const lang::Expr& walk,
                 Emitter& code);
  // Forward: that of what was written; null for zero.
  void set(const lang::Expr& reference, const lang::Expr& tangent, const lang::Expr& walk,
           Emitter& code);

 private:
  const lang::TypeDef& sum();
  lang::Type content_type(const lang::Type& tangent);
  // `walk`: null for the adjoint.
  lang::Expr cell(const lang::Expr& reference, const lang::Expr& walk, Emitter& code);
  static void write(const lang::Expr& cell, const lang::Expr& content, Emitter& code);
  lang::Expr part(const lang::Expr& content, const lang::Expr& value, Emitter& code);

  lang::Program& program_;
  Tangents& tangents_;
  lang::OpDef adjoint_cell_, tangent_cell_;
  // Sum[T] { Zero, Sum(T) }: of tangents that have no zero without a shape.
  lang::TypeDefRef sum_;
};

}  // namespace relay::ad
