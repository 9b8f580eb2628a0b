#include "tests/support/program_files.h"

#include <algorithm>

namespace relay::tests {

namespace fs = std::filesystem;

std::vector<fs::path> program_files() {
  std::vector<fs::path> paths;
  for (const char* folder : {"tests/golden", "examples", "stdlib"}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".relay") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace relay::tests
