#include <memory>

#include "bench/race/race.h"
struct Cell {
  int head;
  std::shared_ptr<Cell> tail;
};
using List = std::shared_ptr<Cell>;
static bool safe(int q, int d, const Cell* qs) {
  for (; qs != nullptr; qs = qs->tail.get(), ++d) {
    if (q == qs->head || q == qs->head + d || q == qs->head - d) return false;
  }
  return true;
}
static int place(int n, int k, int q, const List& qs) {
  if (q > n) return 0;
  const int here = !safe(q, 1, qs.get()) ? 0
                   : k == n              ? 1
                                         : place(n, k + 1, 1, std::make_shared<Cell>(Cell{q, qs}));
  return here + place(n, k, q + 1, qs);
}
double once() { return place(hidden(9), 1, 1, nullptr); }
