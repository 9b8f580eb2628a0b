#pragma once

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "repl/session.h"
#include "tests/support/by_point.h"
#include "tests/support/property.h"

// What tests check of generated programs.
namespace relay::tests {

// `f(x, m, d)` of the program is a value, and the same in either tier.
inline void check_tiers(repl::Session& interpreted, repl::Session& native,
                        const std::string& program) {
  const Outcome expected = outcome_by_kernel(interpreted, program);
  CAPTURE(expected.text);
  CHECK(expected.is_value);
  CHECK(outcome_by_kernel(native, program).text == expected.text);
}

// The program runs, and what these expressions give has no False in it.
inline void check_true(repl::Session& session, const std::string& program,
                       const std::vector<std::string>& expressions) {
  const auto errors = session.run("<program>", program, nullptr);
  if (!errors.empty()) FAIL_CHECK(rendered(errors));
  if (!errors.empty()) return;
  for (const std::string& each : expressions) {
    const auto given = session.evaluate(each);
    if (!given) FAIL_CHECK(each << "\n" << rendered(given.errors()));
    if (given) CHECK(lang::to_string(*given).find("False") == std::string::npos);
  }
}

}  // namespace relay::tests
