#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/golden_run.h"

// The comments of a golden file. tests/README.md describes the format.
namespace relay::tests {

struct GoldenOptions {
  bool lanes = true;        // run with the JIT off
  bool native = true;       // run with the JIT always on
  std::string skip;         // why the file does not run
  std::string folder = {};  // of `-I`
};

// Reads `only:`, `skip:` and `folder:`. What is no key of the format goes to `problems`, a line
// each.
GoldenOptions golden_options(std::string_view text, std::vector<std::string>& problems);

// The text of a file that is known to fail as it will be when it is mended, on the same lines: what
// `right:` and `right-match:` say in the place of the last expectations before them. Empty if it
// says nothing of that kind.
std::string when_mended(std::string_view text);

// Does the text expect anything?
bool has_expectations(std::string_view text);

// The text with the expectations that `run` would meet, everything else as it is: a file is right
// when this gives it back unchanged.
std::string with_expectations(std::string_view text, const GoldenRun& run);

}  // namespace relay::tests
