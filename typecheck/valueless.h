#pragma once

#include "lang/type.h"
#include "typecheck/unify.h"

namespace relay::typecheck {

// The type of a finished value with what stands for nothing in it, like the elements of an empty
// list, generic.
lang::Type general_type(const lang::Type& type, Solver& solver);

}  // namespace relay::typecheck
