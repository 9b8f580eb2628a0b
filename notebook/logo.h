#pragma once

#include <string>
#include <string_view>

namespace relay::notebook {

// A nabla, which is a gradient. Old programs want points, new ones SVG.
std::string_view logo_svg();
std::string logo_png(int size);

}  // namespace relay::notebook
