#pragma once

#include <string>
#include <vector>

namespace relay::built {

// What the processor at hand has of all that native code may use, as GCC calls it: "avx2". Empty
// where processors of its kind do not differ in that.
std::vector<std::string> processor_features();

}  // namespace relay::built
