// Derivatives of generated programs in float64: what must hold of each, and how many programs used
// what.

#include <array>
#include <cstdio>
#include <exception>
#include <span>

#include <catch2/catch.hpp>

#include "tests/support/derivative_check.h"
#include "tests/support/property.h"
#include "tests/support/shrink.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPrograms = 1000;         // in each half
constexpr std::size_t kSlowPrograms = 500;      // of derivatives of derivatives and of both modes
constexpr std::size_t kBothTiers = 40;          // one program in so many runs in both
constexpr std::size_t kVerified = 10;           // one in so many with every pass verified
constexpr std::size_t kFewest = 10;             // one in so many at least uses a feature
constexpr std::size_t kRoughPerCent = 6;        // at a kink or a jump
constexpr std::size_t kUnsupportedPerCent = 2;  // docs/limits.md says of what

using Property = Failure (DerivativeCheck::*)(const RandomProgram&, bool both_tiers);

// The features that must be there often.
constexpr Feature kRequired[] = {
    Feature::If,      Feature::Match,     Feature::ListRecursion, Feature::TreeRecursion,
    Feature::Closure, Feature::Reference, Feature::IndexNotation};

void check_property(Property property, const ProgramOptions& options, const char* test,
                    std::size_t programs, std::uint64_t first,
                    std::span<const Feature> required = kRequired) {
  DerivativeCheck plain(false);
  DerivativeCheck verified(true);
  std::array<std::size_t, kFeatures> used{};
  std::size_t ill_typed = 0;
  const auto all = seeds(programs, first);
  for (const std::uint64_t seed : all) {
    const RandomProgram program = random_program(seed, options);
    for (std::size_t i = 0; i < kFeatures; ++i)
      used[i] += program.uses(static_cast<Feature>(i)) ? 1 : 0;
    DerivativeCheck& check = seed % kVerified == 0 ? verified : plain;
    const bool both_tiers = seed % kBothTiers == 0 || all.size() == 1;
    // A failed check of ours is an exception.
    const auto tried = [&](DerivativeCheck& by, const RandomProgram& candidate) -> Failure {
      try {
        return (by.*property)(candidate, both_tiers);
      } catch (const std::exception& exception) {
        return {"exception", exception.what()};
      }
    };
    const Failure failure = tried(check, program);
    if (!failure) continue;
    // What the generator has written may leave a type open.
    if (failure.kind.starts_with("refused: cannot tell the type") ||
        failure.kind.starts_with("refused: `transpose`")) {
      ++ill_typed;
      continue;
    }
    DerivativeCheck again(seed % kVerified == 0);
    const auto fails = [&](const RandomProgram& smaller) {
      return tried(again, smaller).kind == failure.kind;
    };
    const RandomProgram smallest = shrunk(program, options, fails);
    FAIL_CHECK(replay(smallest, test) << "\n" << tried(again, smallest).text);
  }
  std::printf("%s: %zu programs;", test, all.size());
  for (std::size_t i = 0; i < kFeatures; ++i) std::printf(" %s %zu,", kFeatureNames[i], used[i]);
  const std::size_t rough = plain.rough + verified.rough;
  const std::size_t flat = plain.flat + verified.flat;
  std::size_t unsupported = 0;
  for (const DerivativeCheck* check : {&plain, &verified}) {
    for (const auto& [message, count] : check->unsupported) {
      unsupported += count;
      std::printf("\n  %zu: %s", count, message.c_str());
    }
  }
  std::printf("\n  derivative 0: %zu, at a kink: %zu, not supported: %zu\n", flat, rough,
              unsupported);
  if (all.size() < programs) return;
  CHECK(rough * 100 <= all.size() * kRoughPerCent);
  CHECK(unsupported * 100 <= all.size() * kUnsupportedPerCent);
  CHECK(ill_typed * 100 <= all.size());
  for (const Feature feature : required) {
    INFO(kFeatureNames[static_cast<std::size_t>(feature)]);
    CHECK(used[static_cast<std::size_t>(feature)] * kFewest >= all.size());
  }
}

constexpr const char* kGradient = "gradients agree with central differences";
constexpr const char* kTranspose = "forward and reverse mode agree";
constexpr const char* kCombinators = "second derivatives of what gives functions";
constexpr const char* kSecond = "second derivatives agree with differences of gradients";

void check_gradients(std::uint64_t first) {
  ProgramOptions options;
  options.references = true;
  check_property(&DerivativeCheck::gradient, options, kGradient, kPrograms, first);
}
void check_transposes(std::uint64_t first) {
  ProgramOptions options;
  options.references = true;
  options.scalar_result = false;
  check_property(&DerivativeCheck::transpose, options, kTranspose, kSlowPrograms, first);
}
void check_combinators(std::uint64_t first) {
  ProgramOptions options;
  options.combinators = true;
  options.size = 10;
  constexpr Feature kUsed[] = {Feature::Closure, Feature::ClosureInData, Feature::ListRecursion};
  check_property(&DerivativeCheck::second, options, kCombinators, kSlowPrograms, first, kUsed);
}
void check_second(std::uint64_t first) {
  ProgramOptions options;
  options.references = true;
  options.size = 8;
  check_property(&DerivativeCheck::second, options, kSecond, kSlowPrograms, first);
}

// Each in two halves, which may run at the same time.
TEST_CASE("gradients agree with central differences") { check_gradients(1); }
TEST_CASE("gradients agree with central differences (more)") { check_gradients(1 + kPrograms); }
TEST_CASE("forward and reverse mode agree") { check_transposes(1); }
TEST_CASE("forward and reverse mode agree (more)") { check_transposes(1 + kSlowPrograms); }
TEST_CASE("second derivatives agree with differences of gradients") { check_second(1); }
TEST_CASE("second derivatives of what gives functions") { check_combinators(1); }
TEST_CASE("second derivatives of what gives functions (more)") {
  check_combinators(1 + kSlowPrograms);
}
TEST_CASE("second derivatives agree with differences of gradients (more)") {
  check_second(1 + kSlowPrograms);
}

}  // namespace
}  // namespace relay::tests
