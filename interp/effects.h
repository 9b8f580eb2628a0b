#pragma once

#include <string_view>
#include <vector>

#include "interp/code.h"
#include "interp/machine.h"
#include "lang/op.h"

namespace relay::interp {

// Operators that print for the host alone (Host::trace) have names that begin so.
inline constexpr std::string_view kTracePrefix = "trace.";

// An operator that does something besides computing: print, assert, load.
class EffectCode final : public Code {
 public:
  EffectCode(const lang::OpDef* op, lang::AttrsRef attrs, std::vector<Operand> args,
             lang::Type type, lang::Span span)
      : Code(span),
        op_(op),
        attrs_(std::move(attrs)),
        args_(std::move(args)),
        type_(std::move(type)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  lang::Value trace(Frame& frame) const;
  lang::Value fail_here(Machine& machine, lang::Diagnostic diagnostic) const;

  const lang::OpDef* op_;
  lang::AttrsRef attrs_;
  std::vector<Operand> args_;
  lang::Type type_;  // of the result
};

}  // namespace relay::interp
