#pragma once

#include <string>
#include <vector>

#include "lang/expr.h"

// Private to the passes that hand parts of programs to external compilers.
namespace relay::opt {

// The parameters of a function literal that steps become, and what it is called with.
class StepParameters {
 public:
  // Each is called `prefix` and its number.
  explicit StepParameters(std::string prefix) : prefix_(std::move(prefix)) {}

  // The one that stands for this value (is_same_value); null if there is none.
  lang::Expr find(const lang::Expr& value) const;
  // The same; a new one if there is none.
  lang::Expr add(const lang::Expr& value);

  const std::vector<lang::VariableRef>& params() const { return params_; }
  const std::vector<lang::Expr>& args() const { return args_; }

 private:
  std::string prefix_;
  std::vector<lang::VariableRef> params_;
  std::vector<lang::Expr> args_;
};

// Steps that use nothing but those parameters and one another as a typed function literal with
// variables of its own.
lang::Expr literal_of_steps(const StepParameters& params, const lang::Block& steps,
                            lang::AttrsRef attrs, lang::Span span);

}  // namespace relay::opt
