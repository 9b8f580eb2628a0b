#pragma once

#include <vector>

#include "loops/stages.h"

namespace relay::loops {

// Where a tensor's elements are.
enum class Storage : std::uint8_t {
  Nowhere,  // nobody needs them
  Inlined,  // computed where they are read
  Stored,   // in memory: an argument, a literal, or computed once by a kernel
  View,     // a result that only rearranges another tensor: its readers look through it
};

// Decides for each tensor. Copies, and what is read as often as it has elements, dissolve into
// their readers; a reduction does when each of its elements is read once and outside of other
// reductions, so that what follows it happens in its nest; what is read more often is stored where
// computing it again would cost more.
std::vector<Storage> choose_storage(const Stages& stages);

}  // namespace relay::loops
