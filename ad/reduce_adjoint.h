#pragma once

#include "ad/adjoint.h"
#include "lang/expr.h"

namespace relay::ad {

// A reduction with `op` over `over` has the adjoint `a` at each point of `domain`, and folds
// `element`, which is scalar code over the variables of both. So is the result, the adjoint of one
// element; and so is `a` in forward mode, where it is the tangent of that element. What it takes is
// computed once, in tensors that `code` gets: ties share equally, and the products of the other
// elements are right where some are 0.
lang::Expr element_adjoint(lang::ReduceOp op, const lang::Expr& element,
                           const std::vector<lang::IndexBinder>& domain,
                           const std::vector<lang::IndexBinder>& over, const lang::Expr& a,
                           Emitter& code);

// `body` at all points of `domain`, as a variable.
lang::Expr tabulated(const std::string& name, const std::vector<lang::IndexBinder>& domain,
                     const lang::Expr& body, Emitter& code);

}  // namespace relay::ad
