#pragma once

#include <cstdint>

#include "flow/native.h"

namespace relay::interp {

// Runs a loop of native code, in chunks over its outermost index. The first of them run on this
// thread alone and are timed; the rest is spread over threads where it takes long enough. What
// fails in a thread that helps is done once more here, in order, and the error is then that of the
// first index that fails. False after an error.
bool run_chunks(flow::Runner& runner, flow::Chunk chunk, void* context, std::int64_t extent,
                int threads);

}  // namespace relay::interp
