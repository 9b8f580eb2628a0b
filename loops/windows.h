#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loops/lower.h"

// Tensors that are computed in the steps of a loop that reads them, as far as these need them: the
// `compute_at` of a schedule (Ragan-Kelley and others, "Halide", PLDI 2013). Rows that two steps
// need are computed in both.
namespace relay::loops {

// A band in which `makers`, whose axis 0 is that of the tensor that each of them stores, run in the
// steps of `reader`: `step` points of its axis 0. Each stores what those behind it read. Where one
// of them reads less than a row further at each point of its axis 0, so that all points need the
// same rows, there is one step. Appends the launches
// and the band to the group, and tells its tensors how many rows are in memory. Null, and nothing
// is done, where what is made is read at an index that is computed. Cost: one pass over the kernels
// and the steps.
const Band* add_windows(LoweredGroup& group, std::int32_t first_made, std::vector<Launch> makers,
                        Launch reader, std::int64_t step);

// Has the group such a band?
bool has_windows(const LoweredGroup& group);

// Points of axis 0, from begin to before end.
struct PointRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// What each launch of such a band computes where the last one computes `points`.
void find_points(const Band& band, PointRange points, std::vector<PointRange>& by_launch);

}  // namespace relay::loops
