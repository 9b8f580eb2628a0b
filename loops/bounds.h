#pragma once

#include <span>

#include "loops/lower.h"

namespace relay::loops {

// The last barrier before memory: does every launch of a group touch only what its buffers hold?
// Panics if not, with the kernel; both tiers, and the libraries, run nothing else. What a kernel's
// addresses reach follows from intervals over its loops. Where those are too coarse, because an
// index is computed from values, the kernel builder has settled each axis by itself: by the index
// arithmetic, or by a check that runs with the kernel (guard_indices, check_indices).
// Cost: one pass over the kernels of a group, when it is lowered; a launch costs nothing.
void verify_bounds(const LoweredGroup& group, std::span<const Layout> args);

}  // namespace relay::loops
