#include <algorithm>

#include "bench/race/race.h"
static int64_t collatz(int64_t n) {
  int64_t steps = 0;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}
double once() {
  int64_t best = 0;
  for (int64_t i = 1; i < hidden(300000); ++i) best = std::max(best, collatz(i));
  return static_cast<double>(best);
}
