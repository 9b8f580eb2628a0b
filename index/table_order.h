#pragma once

#include <cstddef>
#include <vector>

#include "lang/expr.h"

namespace relay::index {

// In which order the binders of a table of `body` best come: as they are, but where the last one
// has few points, fewer than native code takes at once, and nothing is read along it, a long one
// comes last. Gives places in `binders`. Cost: linear in the body.
std::vector<std::size_t> table_order(const std::vector<lang::IndexBinder>& binders,
                                     const lang::Expr& body);

}  // namespace relay::index
