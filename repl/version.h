#pragma once

#include <string>

namespace relay::repl {

// The versions of the program and of the libraries that run programs, a line for each. Loads these
// libraries, which takes some 50 ms: what it names is what would be used, and what cannot be loaded
// is called absent.
std::string describe_version();

}  // namespace relay::repl
