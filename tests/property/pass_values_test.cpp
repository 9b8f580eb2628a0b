// Passes keep the values of generated programs, and the text that they give reads back.

#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>

#include "opt/pass.h"
#include "tests/support/passed_program.h"
#include "tests/support/property.h"
#include "tests/support/value_bits.h"

namespace relay::tests {
namespace {

constexpr std::uint64_t kPrograms = 60;
constexpr const char* kTest = "passes keep the values of generated programs";

std::string with_entry(const opt::Pass& pass) {
  return pass.name == "RemoveUnusedFunctions" ? pass.name + "(entry=f)" : pass.name;
}

ProgramOptions options_for(std::uint64_t seed) {
  ProgramOptions options;
  options.whole_language = seed % 3 != 0;
  options.combinators = seed % 5 == 0;
  options.references = seed % 7 == 0;
  return options;
}

// Printed text has no annotation on a `let`: what only that says (`let s: List[float64] = Nil`) is
// lost.
bool reads_back(PassedProgram& program) {
  try {
    PassedProgram again(program.passed("InferType"));
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

TEST_CASE("passes keep the values of generated programs") {
  const auto all = seeds(kPrograms);
  std::size_t tried = 0;
  for (const std::uint64_t seed : all) {
    const RandomProgram program = random_program(seed, options_for(seed));
    INFO(replay(program, kTest));
    PassedProgram before(program.text);
    if (!reads_back(before)) continue;
    ++tried;
    const lang::Value expected = before.value(program.call);
    for (const opt::Pass& pass : opt::passes()) {
      // Derivatives call operators that no notation has.
      if (pass.keeps == opt::Keeps::Meaning || pass.name == "ExpandDerivatives") continue;
      CAPTURE(pass.name);
      try {
        const std::string text = before.passed(with_entry(pass));
        CAPTURE(text);
        const lang::Value found = PassedProgram(text).value(program.call);
        CHECK((pass.keeps == opt::Keeps::Bits ? same_bits(found, expected)
                                              : is_close(found, expected, 1e-9)));
      } catch (const std::runtime_error& error) {
        FAIL_CHECK(error.what());
      }
    }
  }
  CHECK(4 * tried >= 3 * all.size());
}

}  // namespace
}  // namespace relay::tests
