#pragma once

#include <vector>

#include "lang/expr.h"

namespace relay::typecheck {

// `tensor with { [indices] = part }` where `part` is no scalar, element by element: typed, of typed
// operands. Extents that types do not tell are compared when it runs.
lang::Expr with_part(const lang::Expr& tensor, std::vector<lang::Expr> indices,
                     const lang::Expr& part, lang::Span span);

}  // namespace relay::typecheck
