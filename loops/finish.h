#pragma once

#include <span>
#include <string>
#include <vector>

#include "loops/kernel_builder.h"

namespace relay::loops {

// Makes a launch of a draft: adjacent axes that every address walks as one become one, so that
// contiguous data is a one-dimensional nest; what is not used is dropped; numbers that vary from
// call to call go to size slots.
Launch finish(Draft draft, std::span<const DType> buffer_dtypes);
// The same with all its axes. `names` gets those of the kernel's axes.
Launch finish_as_it_is(Draft draft, std::span<const DType> buffer_dtypes,
                       std::vector<std::string>& names);

}  // namespace relay::loops
