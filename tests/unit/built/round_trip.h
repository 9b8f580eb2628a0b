#pragma once

#include <memory>
#include <string>

#include "built/snapshot.h"

namespace relay::tests {

// What has been written. It does not read: the test fails.
std::unique_ptr<built::Snapshot> read_back(const std::string& bytes);

// What reads back must be the same: as a text, as a graph, and as bytes when it is written again.
// Returns the bytes.
std::string check_round_trip(const built::Snapshot& before);

}  // namespace relay::tests
