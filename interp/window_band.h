#pragma once

#include <span>
#include <vector>

#include "lang/tensor.h"
#include "loops/lower.h"

namespace relay::interp {

// Runs a band with windows (loops/windows.h), on so many threads where its last launch is parallel
// and is worth it; each thread has windows of its own. `buffers`: those of the group; `native`: by
// launch of the band, null for those that run on lanes; `worth_a_thread`: scalar operations.
// Throws Failure where it is told to stop.
void run_windows(const loops::LoweredGroup& group, const loops::Band& band,
                 std::span<const lang::TensorRef> buffers,
                 std::span<const loops::KernelFunction> native, int threads,
                 std::int64_t worth_a_thread);

}  // namespace relay::interp
