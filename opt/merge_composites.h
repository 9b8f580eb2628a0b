#pragma once

#include <vector>

#include "opt/composite.h"

namespace relay::opt {

// The first step of annotating (opt/external.h), of one function: each composite that one of the
// compilers has becomes a call of a function literal with the fact `Composite`. Throws Failure.
lang::Expr merge_composites(const lang::Expr& function,
                            const std::vector<lang::ExternalCompiler*>& compilers,
                            Composites& composites, PassProgram& program);

}  // namespace relay::opt
