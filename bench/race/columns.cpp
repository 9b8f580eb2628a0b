#include <cmath>
#include <vector>

#include "bench/race/race.h"
double once() {
  static const std::vector<float> x = [] {
    std::vector<float> made(100000);
    for (size_t i = 0; i < made.size(); ++i) made[i] = std::sin(static_cast<float>(i));
    return made;
  }();
  std::vector<float> y(8 * x.size());
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t k = 0; k < 8; ++k) y[8 * i + k] = x[i] * static_cast<float>(k + 1);
  return y[777];
}
