#include <vector>

#include "bench/race/race.h"
double once() {
  constexpr size_t n = 512;
  static const std::vector<float> given = [] {
    std::vector<float> made(n * n);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        made[i * n + j] =
            static_cast<float>((i * 7 + j * 13) % 101) / 101.0f + (i == j ? 600.0f : 0.0f);
    return made;
  }();
  std::vector<float> a = given;
  for (size_t k = 0; k + 1 < n; ++k) {
    for (size_t i = k + 1; i < n; ++i) {
      const float factor = a[i * n + k] / a[k * n + k];
      a[i * n + k] = factor;
      for (size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return a[n * n - 1];
}
