#pragma once

#include "lang/expr.h"

namespace relay::typecheck {

// Is this typed, closed (but for `free`) expression legal: every node typed, types agree where they
// meet, variables in scope and bound once. Throws InternalError with the offending node printed.
// Run after every pass in tests.
void verify(const lang::Expr& expr, const std::vector<lang::VariableRef>& free = {});

}  // namespace relay::typecheck
