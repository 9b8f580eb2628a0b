#include <cmath>
#include <vector>

#include "bench/race/race.h"
double once() {
  static const std::vector<float> x = [] {
    std::vector<float> made(1000000);
    for (size_t i = 0; i < made.size(); ++i) made[i] = std::sin(static_cast<float>(i));
    return made;
  }();
  std::vector<float> y(x.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] > 0.0f || i == 0 ? x[i] : 0.1f * x[i - 1];
  return y[777];
}
