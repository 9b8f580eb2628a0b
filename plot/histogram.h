#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plot/figure.h"

namespace relay::plot {

// Counts numbers, all of them finite and on the scale, in bins of a round width, of which there are
// about as many as wanted, else as suits the data. A number on an edge is in the bin above it, on
// the last one below. Whole numbers have their bins around them.
void count_in_bins(const std::vector<double>& numbers, std::optional<std::int64_t> wanted,
                   bool are_integers, Figure& figure);

}  // namespace relay::plot
