#pragma once

#include <vector>

#include "ad/adjoint.h"
#include "lang/expr.h"

namespace relay::ad {

// What is known of the tangent of one value: nothing (a symbolic zero), an expression of the
// tangent type, or, of a tuple, something per field. No zeros are written before one is asked for.
class TangentValue {
 public:
  TangentValue() = default;  // zero
  explicit TangentValue(lang::Expr whole) : whole_(std::move(whole)) {}
  static TangentValue of_fields(std::vector<TangentValue> fields);

  bool is_zero() const;
  // Of field `index` of a tuple.
  TangentValue field(std::uint32_t index, Emitter& code) const;
  // The tangent as an atom of tangent type `type`; `primal`, an atom, says how large zeros are.
  lang::Expr value(const lang::Type& type, const lang::Expr& primal, Emitter& code) const;

 private:
  lang::Expr whole_;
  std::vector<TangentValue> fields_;
};

}  // namespace relay::ad
