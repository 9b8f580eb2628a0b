#include <vector>

#include "bench/race/race.h"
double once() {
  const int size = hidden(300);
  std::vector<int> image(static_cast<size_t>(size) * static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      const double cx = i / 150.0 - 1.5, cy = j / 150.0 - 1.0;
      double x = 0, y = 0;
      int n = 0;
      while (n < 200 && x * x + y * y <= 4.0) {
        const double next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        ++n;
      }
      image[static_cast<size_t>(i * size + j)] = n;
    }
  }
  return image[12345];
}
