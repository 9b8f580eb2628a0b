#include "plot/thinned.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_set>

#include "lang/stop.h"

namespace relay::plot {

std::vector<Place> thinned_line(const std::vector<Place>& line) {
  constexpr double kColumnsPerUnit = 3;
  std::vector<Place> result;
  for (std::size_t begin = 0; begin < line.size();) {
    lang::poll();
    const double column = std::floor(line[begin].x * kColumnsPerUnit);
    std::size_t end = begin;
    std::size_t lowest = begin;
    std::size_t highest = begin;
    for (; end < line.size() && std::floor(line[end].x * kColumnsPerUnit) == column; ++end) {
      if (line[end].y < line[highest].y) highest = end;
      if (line[end].y > line[lowest].y) lowest = end;
    }
    std::vector<std::size_t> kept = {begin, std::min(lowest, highest), std::max(lowest, highest),
                                     end - 1};
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (const std::size_t each : kept) result.push_back(line[each]);
    begin = end;
  }
  return result;
}

std::vector<Place> thinned_dots(const std::vector<Place>& dots) {
  constexpr double kPerUnit = 1;
  constexpr std::size_t kBetweenPolls = 4096;
  std::unordered_set<std::int64_t> seen;
  std::vector<Place> result;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    if (i % kBetweenPolls == 0) lang::poll();
    constexpr std::int64_t kRow = 1 << 20;
    const auto key = std::llround(dots[i].y * kPerUnit) * kRow + std::llround(dots[i].x * kPerUnit);
    if (seen.insert(key).second) result.push_back(dots[i]);
  }
  return result;
}

}  // namespace relay::plot
