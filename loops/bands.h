#pragma once

#include <cstddef>
#include <cstdint>

#include "loops/lower.h"

namespace relay::loops {

// A part of a band's rows, small enough for the cache of a core, is at least one row.
inline constexpr std::int64_t kBandPartBytes = 256 << 10;

// Finds the bands of a group (LoweredGroup::bands). The launches of one, kernels and library calls,
// go over the same rows, some of them several points at a time, what one of them writes another
// reads in the same row only, and each has a row of some tensor in common with those before it. So
// what goes from one to the next stays in cache, and threads need not wait for one another in
// between. A launch that can fail is alone. Bands that are there stay. Cost: one pass over the
// kernels.
void find_bands(LoweredGroup& group, std::size_t arg_count);

}  // namespace relay::loops
