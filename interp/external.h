#pragma once

#include "interp/code.h"
#include "interp/machine.h"

namespace relay::interp {

// The body of a function that an external compiler runs (lang/external_compiler.h): made when it
// runs first.
class ExternalFunctionCode final : public Code {
 public:
  ExternalFunctionCode(lang::Expr function, std::string compiler);
  ~ExternalFunctionCode() override;
  lang::Value eval(Frame& frame) const override;

 private:
  struct Made;
  // Both throw Failure.
  void make(Machine& machine) const;
  lang::Value run(Frame& frame) const;

  lang::Expr function_;
  std::string compiler_;
  mutable std::unique_ptr<Made> made_;
};

}  // namespace relay::interp
