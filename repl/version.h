#pragma once

#include <string>

#include "interp/eval.h"

namespace relay::repl {

// The versions of the program and of the libraries that run programs, a line for each. Loads these
// libraries, which takes some 50 ms: what it names is what would be used, and what cannot be loaded
// is called absent.
std::string describe_version();

// What runs programs, for the first line of a prompt: loads nothing, and names what this program
// was built with.
std::string describe_engine(interp::JitMode mode);

}  // namespace relay::repl
