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
  for (size_t i = 0; i < x.size(); ++i) {
    float taped[5], v = x[i] * x[i] + 1.0f;
    for (float& each : taped) {
      each = v;
      v = 0.5f * (v + 2.0f / v);
    }
    float slope = 1.0f;
    for (int n = 4; n >= 0; --n) slope *= 0.5f * (1.0f - 2.0f / (taped[n] * taped[n]));
    y[i] = slope;
  }
  return y[777];
}
