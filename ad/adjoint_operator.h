#pragma once

#include "lang/op.h"

namespace relay::ad {

// The derivative of an operator as an operator: its inputs are those of `op` and the adjoint of the
// result; its result is a tuple of the adjoints of those inputs that
// have one (`has_tangent`), in order. The definition is that of `op`, transposed where the shapes
// are known: for calls whose shapes are only known when they run. Differentiable as any operator
// that follows from its definition. The same object at each call; it is in no registry.
const lang::OpDef& adjoint_operator(const lang::OpDef& op);

// Is there an adjoint of a value of that type: does it hold a float tensor?
bool has_tangent(const lang::Type& type);
// Its type: () in the place of what has none.
lang::Type tangent_of(const lang::Type& type);

}  // namespace relay::ad
