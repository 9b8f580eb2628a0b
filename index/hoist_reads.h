#pragma once

#include "lang/expr.h"

namespace relay::index {

// The body of index notation with reads `xs[i]` of tensors from outside moved out of its branches
// where their indices are known there, so that each is a step of the body: then the adjoint of `xs`
// is made of those of the elements read. A read that is not known to be within bounds goes to
// element 0 where its branch is not taken; one of a tensor that is known to have none is 0.
lang::Block hoist_reads(const lang::Block& body);

}  // namespace relay::index
