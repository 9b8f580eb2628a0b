#pragma once

#include <cstddef>
#include <utility>
#include <vector>

// What this machine does at most, measured. Depends on nothing of the program, so that
// bench/race/limits.cpp can measure it too.
namespace relay::repl {

struct MachineLimits {
  double operations = 0;  // of float32, in a second
  // The bytes that are read and written in a second, by how many bytes are worked on, ascending.
  std::vector<std::pair<std::size_t, double>> bytes;

  // The least seconds for so many operations and bytes; `working_set`: bytes that are worked on.
  double seconds(double operations, double bytes, double working_set) const;
};
// On so many threads; takes a tenth of a second for each size.
MachineLimits measure_limits(int threads, const std::vector<std::size_t>& sizes);

}  // namespace relay::repl
