#include "tests/support/schedule_check.h"

#include <optional>
#include <utility>

#include <catch2/catch.hpp>

#include "tests/support/by_point.h"
#include "tests/support/passed_program.h"
#include "tests/support/property.h"
#include "tests/support/value_bits.h"

namespace relay::tests {

namespace {

std::optional<lang::Value> value_of(repl::Session& session, const std::string& text,
                                    const std::string& call, std::string& why) {
  const auto errors = session.run("<program>", text, nullptr, parser::Notation::Light);
  if (!errors.empty()) {
    why = rendered(errors);
    return std::nullopt;
  }
  auto value = session.evaluate(call);
  if (value) return *value;
  why = is_unsupported(value.errors()) ? "" : rendered(value.errors());
  return std::nullopt;
}

}  // namespace

ScheduleCheck::ScheduleCheck(std::string test, double tolerance)
    : test_(std::move(test)),
      tolerance_(tolerance),
      plain_(verified(interp::JitMode::Off)),
      lanes_(verified(interp::JitMode::Off)),
      native_(verified(interp::JitMode::Always)) {}

bool ScheduleCheck::run(std::uint64_t seed, const std::string& program, const std::string& schedule,
                        const std::string& call) {
  const std::string scheduled = program + "schedule f { " + schedule + " }\n";
  const std::string shown = scheduled + call + "\n" + replay_test(seed, test_);
  std::string why;
  const auto expected = value_of(plain_, program, call, why);
  if (!expected) {
    FAIL_CHECK(shown << "\nwithout a schedule: " << why);
    return true;
  }
  for (repl::Session* session : {&lanes_, &native_}) {
    why.clear();
    const auto found = value_of(*session, scheduled, call, why);
    if (!found && why.empty()) return false;
    const char* const tier = session == &lanes_ ? "on lanes" : "in native code";
    if (!found) {
      FAIL_CHECK(shown << "\n" << tier << ": " << why);
    } else if (tolerance_ == 0 ? !same_bits(*expected, *found)
                               : !is_close(*found, *expected, tolerance_)) {
      FAIL_CHECK(shown << "\n"
                       << tier << ": " << lang::to_string(*found) << "\nfor "
                       << lang::to_string(*expected));
    }
  }
  return true;
}

}  // namespace relay::tests
