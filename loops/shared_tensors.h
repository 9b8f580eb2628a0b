#pragma once

#include <map>
#include <optional>
#include <vector>

#include "loops/stages.h"

namespace relay::loops {

// The tensors of a group that is being expanded. Those that are made element by element and are the
// same but for the names of their index variables are one tensor, so that what a text writes twice,
// or a derivative computes again, is computed once. Costs what a body has in nodes; large ones are
// not looked at.
class SharedTensors {
 public:
  explicit SharedTensors(Stages& stages) : stages_(stages) {}

  // `def`, or the tensor that it is the same as. What contains no reduction is always another: it
  // dissolves into its readers.
  TensorId add(TensorDef def);
  // Also without reductions.
  TensorId shared(TensorDef def);

 private:
  using Key = std::vector<std::int64_t>;
  std::optional<Key> key_of(const TensorDef& def) const;

  Stages& stages_;
  std::map<Key, TensorId> known_;
};

}  // namespace relay::loops
