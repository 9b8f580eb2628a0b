#pragma once

#include <span>
#include <vector>

#include "loops/inline.h"
#include "loops/stages.h"

namespace relay::loops {

// Does scatter `id` start from scatter `init`, which nothing else reads? Then both fill one tensor.
bool goes_on(const Stages& stages, std::span<const Storage> storage, TensorId init, TensorId id);

// Scatters that start from zeros and go on from one another, first to last, where each adds to a
// box of elements of its own: what is added can be assigned.
struct SliceChain {
  std::vector<TensorId> links;
  bool fills_all = false;  // the boxes are the whole tensor
};

// The chains among the stored tensors. Adjoints of slices are such: each is a box of one tensor.
std::vector<SliceChain> find_slices(const Stages& stages, std::span<const Storage> storage);

}  // namespace relay::loops
