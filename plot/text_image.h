#pragma once

#include <vector>

#include "plot/text_frame.h"

namespace relay::plot {

// An image in characters, as large as its shape allows in a body of this size: halves of blocks,
// which are squares, where there are colours and Unicode, else a character for each point, the
// denser the brighter. The image has elements.
std::vector<TextRow> image_body(const Grid& grid, const BodySize& most, const TextStyle& style);

}  // namespace relay::plot
