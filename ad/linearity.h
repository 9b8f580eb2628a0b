#pragma once

#include "ad/pairs.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Throws Failure(NotDifferentiable) with the place where the function is not linear in its
// parameters, followed through what it calls: products of two of them, functions like `sin`,
// branches that depend on them, what is added to them. A function value from outside is taken to be
// linear, as those of `linearize` and `vjp` are; one that the code makes has to be known.
// `function`: typed, as it is differentiated. Cost: linear in the code that it reaches, times the
// ways in which its functions are called.
void demand_linear(const lang::Function& function, lang::Program& program, Pairs& pairs);

}  // namespace relay::ad
