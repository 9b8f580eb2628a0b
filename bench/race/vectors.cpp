#include "bench/race/race.h"
double once() {
  double x = 1.0, y = hidden(0.0);
  for (int n = hidden(1000000); n > 0; --n) {
    const double next = (x + 0.01 * y) * 0.99995;
    y = (y - 0.01 * x) * 0.99995;
    x = next;
  }
  return x;
}
