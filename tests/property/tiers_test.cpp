// Both tiers give the same bits, or the same error, on generated programs of several dtypes.

#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "repl/session.h"
#include "tests/support/native_code.h"
#include "tests/support/property.h"
#include "tests/support/shrink.h"

namespace relay::tests {
namespace {

using lang::DType;

constexpr std::size_t kPrograms = 100;  // of each dtype

struct Outcome {
  std::optional<lang::Value> value;
  std::string errors;
};

Outcome run(repl::Session& session, const RandomProgram& program) {
  const auto errors = session.run("<program>", program.text, nullptr);
  if (!errors.empty()) return {std::nullopt, rendered(errors)};
  auto value = session.evaluate(program.call);
  if (!value) return {std::nullopt, rendered(value.errors())};
  return {*value, ""};
}

// What is wrong; empty if nothing is.
std::string trouble(repl::Session& lanes, repl::Session& native, const RandomProgram& program) {
  const Outcome a = run(lanes, program);
  const Outcome b = run(native, program);
  // It is well typed, and nothing in it can fail.
  if (!a.errors.empty()) return "on lanes:\n" + a.errors;
  if (!b.errors.empty()) return "with native code:\n" + b.errors;
  // Each session has data types of its own. Text tells floats apart, and all NaNs are one.
  const std::string one = lang::to_string(*a.value);
  const std::string other = lang::to_string(*b.value);
  return one == other ? "" : "on lanes " + one + "\nwith native code " + other;
}

void check_tiers(DType dtype, const char* test) {
  repl::SessionOptions options;
  options.verify = true;
  options.jit = interp::JitMode::Off;
  repl::Session lanes(options);
  options.jit = interp::JitMode::Always;
  repl::Session native(options);
  ProgramOptions drawn;
  drawn.dtype = dtype;
  drawn.smooth = false;
  drawn.scalar_result = false;
  for (const std::uint64_t seed : seeds(kPrograms)) {
    const RandomProgram program = random_program(seed, drawn);
    if (trouble(lanes, native, program).empty()) continue;
    const auto fails = [&](const RandomProgram& smaller) {
      return !trouble(lanes, native, smaller).empty();
    };
    const RandomProgram smallest = shrunk(program, drawn, fails);
    FAIL_CHECK(replay(smallest, test) << "\n" << trouble(lanes, native, smallest));
  }
  CHECK(lanes.evaluator().statistics().kernels_run_native == 0);
  for (const std::string& code : without_native_code(native.evaluator().statistics()))
    FAIL_CHECK("no native code for " << code << ", RELAY_SEED=" << first_seed());
}

TEST_CASE("both tiers give the same float32 bits") {
  check_tiers(DType::Float32, "both tiers give the same float32 bits");
}
TEST_CASE("both tiers give the same float64 bits") {
  check_tiers(DType::Float64, "both tiers give the same float64 bits");
}
TEST_CASE("both tiers give the same float16 bits") {
  check_tiers(DType::Float16, "both tiers give the same float16 bits");
}
TEST_CASE("both tiers give the same int32 bits") {
  check_tiers(DType::Int32, "both tiers give the same int32 bits");
}

}  // namespace
}  // namespace relay::tests
