#pragma once

#include <vector>

#include "interp/code.h"
#include "interp/machine.h"
#include "lang/op.h"

namespace relay::interp {

// An operator that does something besides computing: print, assert, load_csv.
class EffectCode final : public Code {
 public:
  EffectCode(const lang::OpDef* op, lang::AttrsRef attrs, std::vector<Operand> args,
             lang::Span span)
      : Code(span), op_(op), attrs_(std::move(attrs)), args_(std::move(args)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  const lang::OpDef* op_;
  lang::AttrsRef attrs_;
  std::vector<Operand> args_;
};

// Reads comma-separated numbers: every line the same number of fields, an optional first line of
// names. Quoted fields are not supported. Fails with FileError or BadData (with file and line).
lang::Result<lang::TensorRef> load_csv(const std::string& path, lang::DType dtype);

}  // namespace relay::interp
