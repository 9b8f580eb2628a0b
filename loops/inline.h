#pragma once

#include <map>
#include <vector>

#include "loops/recognise.h"

namespace relay::loops {

// Of one element, where an addition is 1; about.
double cost_of(Prim prim);

// Where a tensor's elements are.
enum class Storage : std::uint8_t {
  Nowhere,  // nobody needs them
  Inlined,  // computed where they are read
  Stored,   // in memory: an argument, a literal, or computed once by a kernel
  View,     // a result that only rearranges another tensor: its readers look through it
};

// A tensor that a library computes, from operands that are stored.
struct LibraryStep {
  Recognised call;
  std::shared_ptr<const LibraryKernel> kernel;
  TensorId start = -1;  // a tensor that the library adds to; -1: none
};

struct StorageChoice {
  std::vector<Storage> storage;  // by tensor
  std::map<TensorId, LibraryStep> library;
};

// Decides for each tensor. Sums of products that `library` takes (it may be null) are stored, as
// are their operands, so that what follows reads them; where one is only added to another tensor,
// and that must be stored, the library adds. Copies, and what is read as often as it has
// elements, dissolve into their readers; a reduction does when each of its elements is read once,
// in one kernel and outside of other reductions, so that what follows it happens in its nest; what
// is read more often is stored where computing it again would cost more.
StorageChoice choose_storage(const Stages& stages, KernelLibrary* library);

}  // namespace relay::loops
