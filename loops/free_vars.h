#pragma once

#include <unordered_map>
#include <vector>

#include "loops/stages.h"

namespace relay::loops {

using Vars = std::vector<IndexVarId>;

// The index variables that nodes depend on: those in them and below that no reduction there binds.
// Each node is looked at once in the life of this.
class FreeVars {
 public:
  explicit FreeVars(const Stages& stages) : stages_(stages) {}

  // Sorted. Stays where it is.
  const Vars& operator()(NodeId id);
  // Those of `scope`, in its order.
  Vars among(const Vars& scope, NodeId id);

 private:
  const Stages& stages_;
  std::unordered_map<NodeId, Vars> known_;
};

// Points of loops over these variables, or elements.
double points_of(const Stages& stages, const Vars& vars);
// Of a tensor that nobody wrote, at most.
inline constexpr double kMostElements = 1 << 26;

}  // namespace relay::loops
