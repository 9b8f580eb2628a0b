#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "tests/support/random_program.h"

// How the property tests draw their cases and say which one failed.
namespace relay::tests {

// The seeds to try: `count` of them from `first`, or RELAY_PROGRAMS of them from RELAY_FIRST, or
// the one that RELAY_SEED names.
inline std::vector<std::uint64_t> seeds(std::size_t count, std::uint64_t first = 1) {
  if (const char* one = std::getenv("RELAY_SEED")) return {std::strtoull(one, nullptr, 10)};
  if (const char* more = std::getenv("RELAY_PROGRAMS")) count = std::strtoull(more, nullptr, 10);
  if (const char* start = std::getenv("RELAY_FIRST")) first = std::strtoull(start, nullptr, 10);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

// What a failure shows: the program and how to run it again.
inline std::string replay(const RandomProgram& program, const std::string& test) {
  return "seed " + std::to_string(program.seed) + "\n" + program.text + program.call +
         "\nreplay: RELAY_SEED=" + std::to_string(program.seed) + " property_tests \"" + test +
         "\"";
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
