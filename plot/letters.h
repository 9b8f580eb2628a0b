#pragma once

#include <cstdint>
#include <string_view>

namespace relay::plot {

// Letters in points, 5 across and 7 down, for images of points.
inline constexpr int kLetterColumns = 5;
inline constexpr int kLetterRows = 7;

// Is that point of a letter set? The uppermost row is 0. What is no printable ASCII is a box.
bool is_letter_point(char letter, int column, int row);

}  // namespace relay::plot
