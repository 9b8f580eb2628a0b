#include <algorithm>
#include <vector>

#include "bench/race/race.h"
double once() {
  const std::size_t items = hidden(std::size_t{100});
  std::vector<int64_t> weights(items);
  std::vector<int64_t> values(items);
  for (std::size_t i = 0; i < items; ++i) {
    weights[i] = static_cast<int64_t>(i) * 37 % 23 + 1;
    values[i] = static_cast<int64_t>(i) * 53 % 47 + 1;
  }
  const int64_t capacity = hidden(int64_t{10000});
  std::vector<int64_t> best(static_cast<std::size_t>(capacity) + 1);
  for (std::size_t i = 0; i < items; ++i) {
    for (int64_t c = capacity; c >= weights[i]; --c) {
      const auto at = static_cast<std::size_t>(c);
      best[at] = std::max(best[at], best[static_cast<std::size_t>(c - weights[i])] + values[i]);
    }
  }
  return static_cast<double>(best[static_cast<std::size_t>(capacity)]);
}
