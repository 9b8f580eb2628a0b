#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/race/race.h"
double once() {
  constexpr size_t n = 2000, m = 500;
  static const std::vector<float> x = [] {
    std::vector<float> made(n * m);
    for (size_t i = 0; i < made.size(); ++i) made[i] = std::sin(static_cast<float>(i / m + i % m));
    return made;
  }();
  std::vector<float> y(n);
  for (size_t i = 0; i < n; ++i) {
    const float most = *std::max_element(&x[i * m], &x[i * m] + m);
    float sum = 0;
    for (size_t j = 0; j < m; ++j) sum += std::exp(x[i * m + j] - most);
    y[i] = most + std::log(sum);
  }
  return y[77];
}
