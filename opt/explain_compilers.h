#pragma once

#include <string>
#include <vector>

#include "lang/external_compiler.h"

namespace relay::opt {

// For each operator of code in A-normal form who runs it, and below that why each of the compilers
// does not, or that it would; as text. Operators of functions with `Compiler="x"` are run by x.
std::string explain_compilers(const lang::Expr& code,
                              const std::vector<lang::ExternalCompiler*>& compilers);

}  // namespace relay::opt
