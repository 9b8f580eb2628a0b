#pragma once

#include <vector>

#include "opt/pass.h"

namespace relay::opt {

// What the functions NAME_pass() of the files opt/passes/NAME.cpp give. The build writes it.
std::vector<Pass> passes_of_files();

}  // namespace relay::opt
