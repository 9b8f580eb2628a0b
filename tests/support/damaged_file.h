#pragma once

#include <string>
#include <vector>

#include "tests/support/random.h"

// Data files that are nearly right: what a reader must survive.
namespace relay::tests {

inline const std::vector<std::string> kDataFormats = {"npy", "npz", "safetensors", "csv", "png"};

// Files of a format that can be read, as bytes.
std::vector<std::string> sound_files(const std::string& format);

// One of them with bytes changed, lost, doubled, moved or added, with numbers made extreme, and,
// half of the time, with the lengths and checksums mended, so that the damage comes further.
std::string damaged_file(const std::string& format, const std::vector<std::string>& sound,
                         Random& random);

}  // namespace relay::tests
