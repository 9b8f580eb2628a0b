#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loops/inline.h"
#include "loops/stages.h"

namespace relay::loops {

// Parts of a tensor along one of its axes: [ends[i - 1], ends[i]), from 0 on.
struct Pieces {
  std::size_t axis = 0;
  std::vector<std::int64_t> ends;
};

// A Map that is one thing in one part of an axis and another in the next, as a concatenation of
// several tensors is: where its comparisons of an index with numbers turn. Nothing where its parts
// are short, or few and not long. `storage` may still be open: then less is seen.
std::optional<Pieces> find_pieces(const Stages& stages, std::span<const Storage> storage,
                                  TensorId id);

// A number by which the points [begin, end) of a Map's axis, counted from `begin`, are divided to
// find an element, as the reshape of a matrix to a vector does with the length of its rows. It
// divides their number; 0: there is none.
std::int64_t find_row_length(const Stages& stages, std::span<const Storage> storage,
                             const TensorDef& def, std::size_t axis, std::int64_t begin,
                             std::int64_t end);

}  // namespace relay::loops
