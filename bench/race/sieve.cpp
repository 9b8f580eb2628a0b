#include <vector>

#include "bench/race/race.h"
double once() {
  const int64_t n = hidden(int64_t{2000000});
  std::vector<unsigned char> marks(static_cast<std::size_t>(n));
  for (int64_t i = 0; i < n; ++i) marks[static_cast<std::size_t>(i)] = i >= 2;
  for (int64_t p = 2; p * p < n; ++p) {
    if (!marks[static_cast<std::size_t>(p)]) continue;
    for (int64_t k = p * p; k < n; k += p) marks[static_cast<std::size_t>(k)] = 0;
  }
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (marks[static_cast<std::size_t>(i)]) ++count;
  }
  return static_cast<double>(count);
}
