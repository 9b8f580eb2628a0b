// Hashes of things made of several parts.

#pragma once

#include <cstddef>

namespace relay::lang {

// The hash of a sequence whose parts so far hash to `seed`, with one more part.
inline std::size_t combine_hashes(std::size_t seed, std::size_t hash) {
  return seed ^ (hash + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2));
}

}  // namespace relay::lang
