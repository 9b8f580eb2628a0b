#pragma once

#include <vector>

#include "plot/drawing.h"

namespace relay::plot {

// A line that looks the same and has fewer places: of those in a row that are in one column of a
// unit's third, the first, the lowest, the highest and the last.
std::vector<Place> thinned_line(const std::vector<Place>& line);

// Dots of which no two are nearer than about a unit.
std::vector<Place> thinned_dots(const std::vector<Place>& dots);

}  // namespace relay::plot
