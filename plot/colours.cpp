#include "plot/colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace relay::plot {

namespace {

constexpr double kFull = 255;

std::uint8_t byte_of(double share) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.0, 1.0) * kFull));
}

}  // namespace

Colour series_colour(std::size_t series) {
  constexpr Colour kColours[] = {{0, 114, 178}, {213, 94, 0},   {0, 158, 115}, {204, 121, 167},
                                 {230, 159, 0}, {86, 180, 233}, {0, 0, 0},     {160, 140, 20}};
  return kColours[series % std::size(kColours)];
}

Colour level_colour(double share) {
  constexpr Colour kAnchors[] = {
      {60, 20, 100}, {50, 90, 160}, {20, 150, 140}, {110, 190, 70}, {230, 190, 30}};
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(std::size(kAnchors) - 1);
  const auto index = std::min(static_cast<std::size_t>(place), std::size(kAnchors) - 2);
  const double part = place - static_cast<double>(index);
  const auto mixed = [&](std::uint8_t from, std::uint8_t to) {
    return byte_of((from + part * (to - from)) / kFull);
  };
  const Colour& from = kAnchors[index];
  const Colour& to = kAnchors[index + 1];
  return {mixed(from.red, to.red), mixed(from.green, to.green), mixed(from.blue, to.blue)};
}

std::string hex_of(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

// 24 greys from 232 on, and a cube of 6 by 6 by 6 from 16 on, whose steps are 0, 95, 135, ...
int terminal_colour(Colour colour) {
  constexpr int kCube = 16;
  constexpr int kGreys = 232;
  const auto [least, most] = std::minmax({colour.red, colour.green, colour.blue});
  if (most - least < 8) {
    const int grey = (colour.red - 3) / 10;  // 8, 18, ..., 238
    if (colour.red < 4) return kCube;
    if (colour.red > 246) return kCube + 215;
    return kGreys + std::clamp(grey, 0, 23);
  }
  const auto step = [](int value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; };
  return kCube + 36 * step(colour.red) + 6 * step(colour.green) + step(colour.blue);
}

double brightness(Colour colour) {
  return (0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue) / kFull;
}

std::optional<Colour> mean_colour(const Grid& grid, std::int64_t row, std::int64_t column,
                                  std::int64_t end_row, std::int64_t end_column) {
  std::array<double, 3> sum = {};
  double count = 0;
  const long double range = static_cast<long double>(grid.high) - grid.low;
  for (std::int64_t i = row; i < end_row; ++i) {
    for (std::int64_t j = column; j < end_column; ++j) {
      std::array<double, 3> shares = {};
      bool is_finite = true;
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        const double value = grid.at(i, j, grid.channels == 3 ? channel : 0);
        is_finite = is_finite && std::isfinite(value);
        shares[static_cast<std::size_t>(channel)] =
            range > 0 ? static_cast<double>((value - static_cast<long double>(grid.low)) / range)
                      : 0.5;
      }
      if (!is_finite) continue;
      ++count;
      for (std::size_t channel = 0; channel < 3; ++channel)
        sum[channel] += std::clamp(shares[channel], 0.0, 1.0);
    }
  }
  if (count == 0) return std::nullopt;
  return Colour{byte_of(sum[0] / count), byte_of(sum[1] / count), byte_of(sum[2] / count)};
}

}  // namespace relay::plot
