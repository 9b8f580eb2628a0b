#pragma once

#include <optional>
#include <vector>

#include "ad/adjoint.h"
#include "lang/expr.h"

namespace relay::ad {

// Code along one direction, made the code along all of them: what is a sum of products for each
// direction becomes one nest with the directions as its last axes, where native code takes several
// at once and what all of them read is read once:
//
//   for k { let dT = slow(k); for p { sum b { w[p, b] * dT[b] } } }
//
//   let all = for k { slow(k) };
//   let dT = for b, k { all[k, b] };
//   for p, k { sum b { w[p, b] * dT[b, k] } }
//
// `code` and `values`, tensors, are at one point of `binders`, and have no effects. Appends to
// `around` what stands around the directions. Gives the values at all points, of shape (own
// shape..., extents of the binders...), or nothing where no part of the code gains by it, or it
// cannot be told apart; `around` is then as it was. Takes time and space linear in the code.
std::optional<std::vector<lang::Expr>> batched(const std::vector<lang::IndexBinder>& binders,
                                               const std::vector<lang::Binding>& code,
                                               const std::vector<lang::Expr>& values,
                                               Emitter& around);

}  // namespace relay::ad
