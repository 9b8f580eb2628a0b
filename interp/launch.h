#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/tensor.h"
#include "loops/lower.h"

namespace relay::interp {

// Native code for launch number `launch` of the group at hand; null: the lanes run it.
using KernelRunner = std::function<loops::KernelFunction(std::size_t launch)>;

// Is this the last reference to all of a buffer, aligned as a fresh one is? Then its memory may
// become another tensor's.
bool is_free(const lang::Tensor& tensor);

// Runs a group's kernels in order and gives the leaves of its result. `leaf_args` have the layouts
// the group was lowered for; the memory of one that nobody else holds may be that of a result. Big
// kernels are spread over `threads` threads (this one included), which changes no bit. Fails with
// IndexOutOfRange or DivisionByZero (the first in row-major order, at its place), OutOfMemory, or
// Interrupted.
lang::Result<std::vector<lang::TensorRef>> launch(const loops::LoweredGroup& group,
                                                  std::vector<lang::TensorRef> leaf_args,
                                                  const KernelRunner& runner, int threads);

}  // namespace relay::interp
