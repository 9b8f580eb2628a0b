#pragma once

#include "ad/jvps.h"
#include "ad/tangent_value.h"
#include "lang/op.h"

namespace relay::ad {

// What there is of a tangent for an operator that takes or gives it: of a tuple, those fields that
// have one.
lang::Type float_part(const lang::Type& type);
lang::Expr float_part(const lang::Expr& primal, const TangentValue& tangent, Emitter& code);
// And back.
TangentValue whole_tangent(const lang::Type& type, const lang::Expr& part, Emitter& code);

// The derivative of an operator in forward mode as an operator: its inputs are those of `op` and
// the tangents of the active ones, in order; its result is the tangent of the result, each as
// `float_part` says. The definition follows from that of `op` where the shapes are known: for calls
// whose shapes are only known when they run. The same object at each call; it is in no registry.
const lang::OpDef& tangent_operator(const lang::OpDef& op, const Activity& active);

}  // namespace relay::ad
