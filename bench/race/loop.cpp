#include "bench/race/race.h"
__attribute__((noinline)) float loop(int i, float acc) {
  for (; i != 0; --i) acc += 0.5f;
  return acc;
}
double once() { return loop(hidden(10000000), 0.0f); }
