#pragma once

#include <vector>

#include "lang/type.h"
#include "typecheck/unify.h"

namespace relay::typecheck {

// Makes `var` stand for the variable `to`, which is of the same kind. A variable that stands for
// something already keeps that.
void map_variable(lang::TypeSubstitution& substitution, const lang::TypeVar& var,
                  const lang::TypeVarRef& to);
// Makes each of the variables stand for an unknown of its own.
void map_to_unknowns(lang::TypeSubstitution& substitution,
                     const std::vector<lang::TypeVarRef>& variables, Solver& solver);

}  // namespace relay::typecheck
