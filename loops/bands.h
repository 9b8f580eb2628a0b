#pragma once

#include <cstddef>

#include "loops/lower.h"

namespace relay::loops {

// Finds the bands of a group (LoweredGroup::bands). The launches of one have as many rows, and what
// one of them writes another reads in the same row only. So what goes from one to the next stays in
// cache, and threads need not wait for one another in between. A launch that can fail is alone.
// Cost: one pass over the kernels.
void find_bands(LoweredGroup& group, std::size_t arg_count);

}  // namespace relay::loops
