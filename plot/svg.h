#pragma once

#include <functional>
#include <string>

#include "plot/drawing.h"

namespace relay::plot {

// A tensor (rows, columns, 3) of uint8 as the bytes of a PNG file.
using EncodePng = std::function<std::string(const lang::Tensor&)>;

// A drawing as an SVG document that stands alone: no scripts, nothing that is fetched. The same
// drawing gives the same bytes.
std::string svg_of(const Drawing& drawing, const EncodePng& encode_png);

}  // namespace relay::plot
