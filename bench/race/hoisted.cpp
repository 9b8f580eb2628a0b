#include <cmath>
#include <vector>

#include "bench/race/race.h"
double once() {
  static const std::vector<float> x = [] {
    std::vector<float> made(100000);
    for (size_t i = 0; i < made.size(); ++i) made[i] = std::sin(static_cast<float>(i));
    return made;
  }();
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i]) * x[i] + x[i];
  return y[777];
}
