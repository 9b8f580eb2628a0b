#pragma once

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;

// Dense derivatives of functions of float tensors: one derivative along a direction, in index
// notation over the directions, so that the size of the code does not depend on the extents. What
// does not depend on the direction is computed once where it is straight-line code.

// Second derivatives of a scalar function, of shape A ++ A; of several arguments, tuples of tuples.
lang::Expr hessian(const lang::Function& given, lang::Program& program, Pairs& pairs);
// Of shape R ++ A: along the arguments (forward mode) where they have at most as many elements as
// the results, else along the results. Where only running knows the numbers, it decides.
lang::Expr jacobian(const lang::Function& given, lang::Program& program, Pairs& pairs);

}  // namespace relay::ad
