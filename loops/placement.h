#pragma once

#include <map>
#include <vector>

#include "loops/inline.h"
#include "loops/schedule.h"
#include "loops/stages.h"

// Where the tensors of a scheduled function are computed: the steps `inline` and `compute_at`. Both
// throw Failure (Unsupported) where a step cannot be done to these tensors.
namespace relay::loops {

// What has a schedule is stored, whoever reads it, or dissolves where that says so.
void settle_storage(const GroupSchedule& schedule, const Stages& stages,
                    std::vector<Storage>& storage);

// Of each tensor that is computed in the steps of another's nest, that other one, which alone reads
// it, or with others that are computed there. `readers`: by tensor, those that read it from memory.
std::map<TensorId, TensorId> find_hosts(const GroupSchedule& schedule, const Stages& stages,
                                        const std::vector<Storage>& storage,
                                        const std::vector<std::vector<TensorId>>& readers);

}  // namespace relay::loops
