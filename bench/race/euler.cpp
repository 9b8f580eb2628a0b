#include "bench/race/race.h"
double once() {
  double angle = 1.0, speed = hidden(0.0);
  for (int n = hidden(1000000); n > 0; --n) {
    const double next = angle + 0.001 * speed;
    speed -= 0.001 * (9.81 * angle + 0.1 * speed * speed);
    angle = next;
  }
  return angle;
}
