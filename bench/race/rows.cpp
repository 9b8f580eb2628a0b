#include <vector>

#include "bench/race/race.h"
double once() {
  static const std::vector<float> b = [] {
    std::vector<float> made(1600000);
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<float>(i / 16 + i % 16);
    return made;
  }();
  std::vector<float> sums(100000);
  for (size_t i = 0; i < sums.size(); ++i) {
    float sum = 0;
    for (size_t j = 0; j < 16; ++j) sum += b[16 * i + j];
    sums[i] = sum;
  }
  return sums[77];
}
