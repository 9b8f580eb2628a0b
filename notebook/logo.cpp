#include "notebook/logo.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/png.h"

namespace relay::notebook {

namespace {

// In units of which the logo has 64.
struct Point {
  double x;
  double y;
};
constexpr std::array<Point, 3> kCorners = {{{12, 15}, {52, 15}, {32, 51}}};
constexpr double kHalfStroke = 3;
constexpr std::array<double, 3> kBack = {0x26, 0x4b, 0x6e};
constexpr std::array<double, 3> kLine = {0xf4, 0xb9, 0x42};

double distance_to_edge(Point p, Point a, Point b) {
  const Point along = {b.x - a.x, b.y - a.y};
  const double share = std::clamp(
      ((p.x - a.x) * along.x + (p.y - a.y) * along.y) / (along.x * along.x + along.y * along.y),
      0.0, 1.0);
  return std::hypot(p.x - a.x - share * along.x, p.y - a.y - share * along.y);
}

}  // namespace

std::string_view logo_svg() {
  return R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="#264b6e"/><path d="M12 15H52L32 51Z" fill="none" stroke="#f4b942" stroke-width="6" stroke-linejoin="round"/></svg>
)";
}

std::string logo_png(int size) {
  const auto pixels = lang::Tensor::make(lang::DType::UInt8, {size, size, 3});
  const double unit = 64.0 / size;
  for (int i = 0; i < size * size; ++i) {
    const int row = i / size;
    const int column = i % size;
    const Point p = {(column + 0.5) * unit, (row + 0.5) * unit};
    double distance = 64;
    for (std::size_t k = 0; k < kCorners.size(); ++k)
      distance = std::min(distance, distance_to_edge(p, kCorners[k], kCorners[(k + 1) % 3]));
    const double share = std::clamp((kHalfStroke - distance) / unit + 0.5, 0.0, 1.0);
    for (std::size_t c = 0; c < 3; ++c) {
      pixels->data_as<std::uint8_t>()[3 * i + static_cast<int>(c)] =
          static_cast<std::uint8_t>(std::lround(kBack[c] + share * (kLine[c] - kBack[c])));
    }
  }
  return formats::png_bytes(*pixels);
}

}  // namespace relay::notebook
