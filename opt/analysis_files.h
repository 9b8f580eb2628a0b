#pragma once

#include <vector>

#include "opt/analysis.h"

namespace relay::opt {

// What the functions NAME_analysis() of the files opt/analyses/NAME.cpp give. The build writes it.
std::vector<Analysis> analyses_of_files();

}  // namespace relay::opt
