// What this machine can do at most: `limits THREADS` prints the float32 operations of a second, and
// for some sizes of what is worked on, in bytes, the bytes of a second that are read and written.
#include <cstdio>
#include <cstdlib>

#include "repl/machine_limits.h"

int main(int, char** arguments) {
  std::vector<std::size_t> sizes;
  for (const double mebibytes : {0.02, 0.75, 6.0, 24.0, 48.0, 192.0})
    sizes.push_back(static_cast<std::size_t>(mebibytes * (1 << 20)));
  const auto limits = relay::repl::measure_limits(std::atoi(arguments[1]), sizes);
  std::printf("operations %.4g\n", limits.operations);
  for (const auto& [size, rate] : limits.bytes) std::printf("bytes %zu %.4g\n", size, rate);
}
