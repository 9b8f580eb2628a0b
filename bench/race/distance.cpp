#include <algorithm>
#include <vector>

#include "bench/race/race.h"
__attribute__((noinline)) static int distance(const std::vector<int>& a, const std::vector<int>& b,
                                              int i, int j) {
  if (i == 0) return j;
  if (j == 0) return i;
  const int c = a[static_cast<size_t>(i - 1)] == b[static_cast<size_t>(j - 1)] ? 0 : 1;
  const int skip = std::min(distance(a, b, i - 1, j), distance(a, b, i, j - 1)) + 1;
  return std::min(skip, distance(a, b, i - 1, j - 1) + c);
}
double once() {
  static const std::vector<int> a = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b = {2, 3, 1, 4, 5, 6, 8, 7, 9};
  return distance(a, b, hidden(9), 9);
}
