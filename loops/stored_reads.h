#pragma once

#include <vector>

#include "loops/inline.h"
#include "loops/stages.h"

namespace relay::loops {

// For each tensor that is not inlined, what its kernel or library reads from memory, in order and
// each once: tensors that are stored, found through those that dissolve into it.
std::vector<std::vector<TensorId>> stored_reads(const Stages& stages, const StorageChoice& choice);

}  // namespace relay::loops
