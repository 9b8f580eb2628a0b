#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "tests/support/random_program.h"
#include "tests/support/replay.h"

// How the property tests draw their cases and say which one failed.
namespace relay::tests {

// The seeds to try: `count` of them from `first`, unless the environment says which
// (tests/support/replay.h). Under the sanitizers they are fewer.
inline std::vector<std::uint64_t> seeds(std::uint64_t count, std::uint64_t first = 1) {
  constexpr std::uint64_t kUnderSanitizers = 100;
  std::vector<std::uint64_t> all(case_count(count, std::min(count, kUnderSanitizers)));
  std::iota(all.begin(), all.end(), first_seed(first));
  return all;
}

inline std::string replay_test(std::uint64_t seed, const std::string& test) {
  return "replay: " + replay_line(seed, '"' + test + '"');
}

// What a failure shows: the program and how to run it again.
inline std::string replay(const RandomProgram& program, const std::string& test) {
  return "seed " + std::to_string(program.seed) + "\n" + program.text + program.call + "\n" +
         replay_test(program.seed, test);
}

// A known limit, and nothing worse.
inline bool is_unsupported(const std::vector<lang::Diagnostic>& errors) {
  return errors.size() == 1 && errors[0].kind == lang::DiagnosticKind::Unsupported;
}

inline std::string rendered(const std::vector<lang::Diagnostic>& errors) {
  std::string text;
  for (const auto& error : errors) text += lang::render(error);
  return text;
}

}  // namespace relay::tests
