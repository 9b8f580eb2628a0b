#pragma once

#include <set>
#include <string>

#include "interp/eval.h"

// Did native code run where there was something to compile?
namespace relay::tests {

// The code of kernels that a session with the JIT always on has run on lanes. None in a build
// without the JIT, and on a processor without half precision, where kernels of it stay on lanes.
std::set<std::string> without_native_code(const interp::Statistics& statistics);

}  // namespace relay::tests
