#pragma once

#include "ad/jvps.h"
#include "lang/expr.h"
#include "lang/op.h"

namespace relay::ad {

class Pairs;

// How the tangent of an operator's result can be said without its definition.
enum class Shortcut {
  None,
  Diagonal,  // each element depends on those at its place: the gradient rule serves both modes
  Joint,     // linear in all arguments that have a tangent together: the operator of the tangents
  Separate,  // linear in each of them alone: a sum of the operator with one tangent in each
};

// Found by comparing the definition, at extents that stand for any, with its own tangent. Needs:
// the active arguments, and no others, have tangents.
Shortcut shortcut_of(const lang::Call& call, const lang::OpDef& op, const Activity& active);

}  // namespace relay::ad
