#pragma once

#include <map>
#include <vector>

#include "loops/inline.h"
#include "loops/stages.h"

namespace relay::loops {

// Points of a tensor, below which a copy costs no more than the further kernels that it takes to
// change it in place.
inline constexpr std::int64_t kFewestInPlace = 1024;

// A read that a tensor's kernel finds in a copy: element [vars] of `slice`.
struct SliceRead {
  NodeId read = -1;
  TensorId slice = -1;
  std::vector<IndexVarId> vars;  // of the tensor that reads
};

// Results that are made of an argument element by element, and also of slices of it, such as its
// row and its column `k` in a step of elimination: what they read, by result. Their slices become
// tensors of their own, so that the result may take the argument's memory. A slice is a Map whose
// body is the one read; where that is out of range the slice has some element or other, for what
// reads it still checks. Adds tensors to `stages` and `choice`, behind those that are there.
std::map<TensorId, std::vector<SliceRead>> find_updates(Stages& stages, StorageChoice& choice);

}  // namespace relay::loops
