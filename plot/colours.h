#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "plot/figure.h"

namespace relay::plot {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

inline constexpr Colour kBlack = {0, 0, 0};
inline constexpr Colour kWhite = {255, 255, 255};
inline constexpr Colour kGapColour = {222, 120, 120};  // what is not finite in an image

// Of a series, again from the first after eight; told apart by those who do not see all colours
// (Okabe and Ito).
Colour series_colour(std::size_t series);
// From dark to light, `share` being from 0 to 1.
Colour level_colour(double share);

// "#0072b2"
std::string hex_of(Colour colour);
// The nearest of the 256 colours of a terminal.
int terminal_colour(Colour colour);
// From 0 to 1.
double brightness(Colour colour);

// The mean of the cells of an image from one row and column to others, which are not among them;
// there is at least one. Nothing where none of them is finite.
std::optional<Colour> mean_colour(const Grid& grid, std::int64_t row, std::int64_t column,
                                  std::int64_t end_row, std::int64_t end_column);

}  // namespace relay::plot
