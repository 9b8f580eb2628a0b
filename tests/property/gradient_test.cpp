// Reverse mode against central differences in float64, on generated smooth programs.

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include <catch2/catch.hpp>

#include "lang/tensor.h"
#include "repl/session.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

using lang::DType;
using lang::Value;

constexpr std::size_t kPrograms = 400;
constexpr std::size_t kUnsupportedPerCent = 7;  // of the programs; docs/limits.md says of what
constexpr double kStep = 1e-5;

std::int64_t element_count(const Value& value) {
  return value.is_scalar() ? 1 : value.as_tensor().element_count();
}
double element(const Value& value, std::int64_t i) {
  return value.is_scalar() ? std::bit_cast<double>(value.bits()) : value.as_tensor().number_at(i);
}

// A copy of `value` with `delta` added to one element.
Value moved(const Value& value, std::int64_t at, double delta) {
  const auto bits = [&](std::int64_t i) {
    return std::bit_cast<std::uint64_t>(element(value, i) + (i == at ? delta : 0));
  };
  if (value.is_scalar()) return Value::scalar(DType::Float64, bits(0));
  auto tensor = lang::Tensor::make(DType::Float64, value.as_tensor().shape());
  for (std::int64_t i = 0; i < tensor->element_count(); ++i) tensor->set_bits(i, bits(i));
  return Value::tensor(std::move(tensor));
}

// The first component of the gradient that finite differences deny; empty if there is none.
std::string check_gradient(repl::Session& session, const RandomProgram& program,
                           std::size_t& unsupported) {
  const auto errors = session.run("<program>", program.text, nullptr);
  if (!errors.empty()) return rendered(errors);
  const std::string names = program.arg_names();
  const auto function = session.evaluate(program.wrapped("f(" + names + ")"));
  if (!function) return rendered(function.errors());
  const auto derivative = session.evaluate(program.wrapped("grad(f)(" + names + ")"));
  if (!derivative && is_unsupported(derivative.errors())) {
    ++unsupported;
    return "";
  }
  if (!derivative) return rendered(derivative.errors());
  const auto gradient = session.evaluator().call(*derivative, program.args);
  if (!gradient) return rendered(gradient.errors());
  const auto value_at = [&](std::size_t param, std::int64_t i, double delta) {
    auto args = program.args;
    args[param] = moved(args[param], i, delta);
    return element(session.evaluator().call(*function, args).or_throw(), 0);
  };
  for (std::size_t param = 0; param < program.args.size(); ++param) {
    const Value& adjoint =
        program.args.size() == 1 ? *gradient : gradient->as_tuple().fields()[param];
    if (element_count(adjoint) != element_count(program.args[param]))
      return "the gradient has another shape";
    for (std::int64_t i = 0; i < element_count(adjoint); ++i) {
      const double above = value_at(param, i, kStep);
      const double below = value_at(param, i, -kStep);
      const double expected = (above - below) / (2 * kStep);
      const double scale = 1 + std::abs(expected) + std::abs(above);
      if (std::abs(element(adjoint, i) - expected) <= 2e-6 * scale) continue;
      return "argument " + std::to_string(param) + ", element " + std::to_string(i) +
             ": gradient " + std::to_string(element(adjoint, i)) + ", differences " +
             std::to_string(expected);
    }
  }
  return "";
}

TEST_CASE("gradients agree with finite differences") {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.verify = true;
  repl::Session session(options);
  const auto all = seeds(kPrograms);
  std::size_t unsupported = 0;
  for (const std::uint64_t seed : all) {
    const RandomProgram program = random_program(seed, {DType::Float64, true, 4, true});
    INFO(replay(program, "gradients agree with finite differences"));
    CHECK(check_gradient(session, program, unsupported) == "");
  }
  CHECK(unsupported * 100 <= all.size() * kUnsupportedPerCent);
}

}  // namespace
}  // namespace relay::tests
