#pragma once

#include "plot/drawing.h"

namespace relay::plot {

// A drawing as an image, uint8 (height, width, 3), with so many points for a unit; at most 8192 of
// them in a row or a column. The same drawing gives the same points.
lang::TensorRef raster_of(const Drawing& drawing, double points_per_unit);

}  // namespace relay::plot
