#pragma once

#include "lang/expr.h"

namespace relay::opt {

// Replaces DimTerms of symbolic dims by arithmetic on `dim_of(x, axis=k)`, where `x` is the
// parameter of the outermost function whose type mentions the dim, alone or in an equation that can
// be solved for it, or a tensor in a record that is one; else what is bound around the term. Fails
// (Unsupported) for a dim that neither determines.
lang::Expr resolve_dim_terms(const lang::Expr& expr);

}  // namespace relay::opt
