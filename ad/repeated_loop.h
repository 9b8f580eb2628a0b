#pragma once

#include <vector>

#include "ad/adjoint.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// A part of an adjoint that grows from point to point.
struct GrowingPart {
  lang::Expr value;          // of a tangent type, at one point
  lang::Expr primal;         // whose adjoint it is; null where zeros need none
  lang::VariableRef so_far;  // what there is before the point, which `value` holds too; or null
  lang::Expr first = {};     // what there is before the first one; null: zero
};

// The sums over all points of `binders` of `parts`, which `code` computes at one point. In a loop,
// a function added to the program, which keeps nothing but the sums. What it takes goes to
// `around`.
std::vector<lang::Expr> summed_in_loop(lang::Program& program,
                                       const std::vector<lang::IndexBinder>& binders,
                                       const std::vector<lang::Binding>& code,
                                       const std::vector<GrowingPart>& parts, Emitter& around);

// The code, and the values of the parts, where there is nothing before the point.
std::vector<lang::Binding> beginning_at_zero(const std::vector<lang::Binding>& code,
                                             std::vector<GrowingPart>& parts);

}  // namespace relay::ad
