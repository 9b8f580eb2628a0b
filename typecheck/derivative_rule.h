#pragma once

#include "lang/derivative.h"
#include "lang/op.h"

// The type of `grad(f)` and its kin, as a relation: f's type may become known after it is used.
namespace relay::typecheck {

const lang::OpDef& differentiate_rule(lang::DiffMode mode);
bool is_differentiate_rule(const lang::OpDef& op);

// Where a function or a reference occurs inside `type`, that type; else null. Unknown parts count
// as free of them.
lang::Type find_undifferentiable(const lang::Type& type);

}  // namespace relay::typecheck
