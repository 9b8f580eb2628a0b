#pragma once

#include "plot/axis.h"

// The two axes of a figure, for any back end.
namespace relay::plot {

struct Axes {
  Axis x;
  Axis y;  // upwards; of an image the rows go downwards, and so do its ticks
};
// With about so many ticks at most.
Axes axes_of(const Figure& figure, int most_across, int most_up);

}  // namespace relay::plot
