#pragma once

#include <string>

#include "interp/compiling.h"

namespace relay::repl {

// What makes native code here: the compilers of librelay_jit.so, where that can be loaded, and the
// folder in which code is kept; empty: none is.
interp::Compiling::Makers native_makers(const std::string& code_cache);

}  // namespace relay::repl
