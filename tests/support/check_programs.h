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
    CAPTURE(each);
    if (given) CHECK(lang::to_string(*given).find("False") == std::string::npos);
  }
}

// Of `count` programs that a Program makes of a seed, with `more` behind them, each gives the same
// in either tier.
template <class Program>
void check_tiers_of(std::size_t count, const std::string& more) {
  repl::Session interpreted(verified(interp::JitMode::Off));
  repl::Session native(verified(interp::JitMode::Always));
  for (const std::uint64_t seed : seeds(count)) {
    const std::string text = Program(seed).text() + more;
    CAPTURE(seed, text);
    check_tiers(interpreted, native, text);
  }
}

// Likewise, what these expressions give has no False in it. `near(a, b)` compares float64.
template <class Program>
void check_true_of(std::size_t count, const std::string& tolerance, const std::string& more,
                   const std::vector<std::string>& expressions) {
  repl::Session session(verified(interp::JitMode::Off));
  for (const std::uint64_t seed : seeds(count)) {
    const std::string text = Program(seed).text() +
                             "def near(a: float64, b: float64) { abs(a - b) <= " + tolerance +
                             " * (1.0 + abs(a) + abs(b)) }\n" + more;
    CAPTURE(seed, text);
    check_true(session, text, expressions);
  }
}

}  // namespace relay::tests
