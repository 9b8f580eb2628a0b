#include <cmath>
#include <utility>
#include <vector>

#include "bench/race/race.h"
static std::pair<float, float> parts(float v) { return {v * v, v > 0.0f ? std::sqrt(v) : 0.0f}; }
double once() {
  static const std::vector<float> x = [] {
    std::vector<float> made(1000000);
    for (size_t i = 0; i < made.size(); ++i) made[i] = std::sin(static_cast<float>(i));
    return made;
  }();
  std::vector<float> y(x.size()), z(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const auto [a, b] = parts(x[i]);
    y[i] = a + b;
    z[i] = a - b;
  }
  return y[777] + z[777];
}
