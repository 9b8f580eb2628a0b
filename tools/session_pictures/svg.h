#pragma once

#include <string>
#include <string_view>

#include "tests/support/screen.h"

namespace relay::tools {

// A picture of what is on the screen, down to the last line with text or the cursor, in the colours
// of a dark terminal. Columns stand where they stand in a terminal whatever font the viewer has.
// `title` is what is read out instead.
std::string svg_of(const tests::Screen& screen, std::string_view title);

}  // namespace relay::tools
