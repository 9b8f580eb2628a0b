#pragma once

#include <vector>

#include "plot/figure.h"

namespace relay::plot {

// The line on which a matrix, linear between its elements, has the value `level`: x is the column
// and y the row, pieces are separated by NaN. Squares with an element that is not finite have none.
Series contour_line(const Grid& grid, double level);

}  // namespace relay::plot
