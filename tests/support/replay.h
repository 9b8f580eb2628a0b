#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Which cases a test or a driver of the farm tries: RELAY_SEED is the first seed, RELAY_COUNT how
// many there are, each with a seed one higher.
namespace relay::tests {

std::uint64_t first_seed(std::uint64_t otherwise = 1);

// Without RELAY_COUNT the first number, and under the sanitizers, where everything takes several
// times as long, the second.
std::uint64_t case_count(std::uint64_t otherwise, std::uint64_t under_sanitizers);
bool is_count_given();

// The line of a shell that runs one case of this program again.
std::string replay_line(std::uint64_t seed, std::string_view arguments = "");

}  // namespace relay::tests
