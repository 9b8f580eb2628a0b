#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "lang/value.h"
#include "repl/session.h"
#include "tests/support/random_program.h"

// The properties that derivatives of generated float64 programs must have.
namespace relay::tests {

// What is wrong with a program; `kind` groups failures that look alike, and is empty if all is
// well.
struct Failure {
  std::string kind;
  std::string text;
  explicit operator bool() const { return !kind.empty(); }
};

class DerivativeCheck {
 public:
  explicit DerivativeCheck(bool verify);

  // value_and_grad against central differences. In both tiers if asked, bit for bit.
  Failure gradient(const RandomProgram& program, bool both_tiers);
  // The inner product of v with J u, and that of J^T v with u.
  Failure transpose(const RandomProgram& program, bool both_tiers);
  // The gradient of a directional derivative against differences of the gradient.
  Failure second(const RandomProgram& program, bool both_tiers);

  // Programs with a kink or a jump too near, for which differences say nothing.
  std::size_t rough = 0;
  // Programs whose derivative is 0.
  std::size_t flat = 0;
  // Programs that are refused as Unsupported, by the message.
  std::map<std::string, std::size_t> unsupported;

 private:
  struct Slope {
    double value;
    double error;
    double scale;
  };
  // One function, called with values that the arguments at hand make.
  struct Run {
    std::string text;
    std::function<std::vector<lang::Value>(const std::vector<lang::Value>& args)> inputs;
  };
  // Defines the program, and gives its arguments.
  lang::Result<lang::Value> load(repl::Session& session, const RandomProgram& program,
                                 const std::string& more);
  std::optional<Failure> load(const RandomProgram& program, const std::string& more = "");
  // What the native tier gives must print as what the other gave.
  Failure compare_tiers(const RandomProgram& program, const std::string& more, const Run& run,
                        const lang::Value& result);
  std::optional<Slope> slope(const std::function<double(const lang::Value& args)>& f,
                             const lang::Value& args, const lang::Value& direction);
  bool is_slope_of_shorter_steps(const std::function<double(const lang::Value& args)>& f,
                                 const lang::Value& direction, double value, double found) const;
  Failure refused(const std::vector<lang::Diagnostic>& errors);

  bool verify_;
  struct Sessions {
    std::size_t programs = 0;  // that they have seen
    std::unique_ptr<repl::Session> lanes;
  };
  std::array<Sessions, 2> sessions_;  // of seeds that are even, and odd
  repl::Session* lanes_ = nullptr;    // of the program at hand
  lang::Value args_;                  // a tuple
};

}  // namespace relay::tests
