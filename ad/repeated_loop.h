#pragma once

#include <vector>

#include "ad/adjoint.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// The sums over all points of `binders` of `parts`, values of tangent types that `code` computes at
// one point; `primals` are values whose adjoints they are. In a loop, a function added to the
// program, which keeps nothing but the sums. What it takes goes to `around`.
std::vector<lang::Expr> summed_in_loop(lang::Program& program,
                                       const std::vector<lang::IndexBinder>& binders,
                                       const std::vector<lang::Binding>& code,
                                       const std::vector<lang::Expr>& parts,
                                       const std::vector<lang::Expr>& primals, Emitter& around);

}  // namespace relay::ad
