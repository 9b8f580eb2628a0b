#pragma once

#include <span>

#include "loops/stages.h"

namespace relay::loops {

// `body` of a tensor over `vars`, where each large sum of products (loops/terms.h) that stands
// inside of other arithmetic has become a tensor of its own, over those of the variables that it
// depends on, which is read. Such a sum may be a library's; where it is not, it dissolves into its
// reader again.
NodeId outline_sums(Stages& stages, NodeFactory& make, NodeId body,
                    std::span<const IndexVarId> vars, lang::Span span);

}  // namespace relay::loops
