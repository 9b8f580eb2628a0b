#pragma once

#include "ad/adjoint.h"
#include "lang/expr.h"

namespace relay::ad {

// The adjoints of what `scatter`, a scalar form whose result has adjoint `adjoint`, is made of: of
// the tensor that is scattered into, and of the value at each point of its binders. What equals an
// extreme shares its adjoint; a factor's is the product of the others, where some are 0 too; what
// is replaced has none.
struct ScatterAdjoint {
  lang::Expr init;
  lang::Expr value;
};
ScatterAdjoint scatter_adjoint(const lang::ScatterReduce& scatter, const lang::Expr& adjoint,
                               Emitter& code);

// Binders over the axes of a variable from axis `first` on.
std::vector<lang::IndexBinder> binders_over(const lang::Expr& tensor, std::size_t first,
                                            Emitter& code);

}  // namespace relay::ad
