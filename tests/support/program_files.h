#pragma once

#include <filesystem>
#include <vector>

namespace relay::tests {

// The golden files, the examples and the library, in the order of their paths.
std::vector<std::filesystem::path> program_files();

}  // namespace relay::tests
