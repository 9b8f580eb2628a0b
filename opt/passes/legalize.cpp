#include <string_view>

#include "lang/op.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;

namespace {

// Operators of a dialect stand for arithmetic of plain ones.
constexpr std::string_view kDialect = "qnn.";

Expr in_plain_operators(const Expr& step, const Definitions&) {
  const lang::OpDef* op = operator_of(step);
  if (!op || !op->name.starts_with(kDialect)) return nullptr;
  const auto& call = lang::cast<lang::Call>(step);
  return lang::definition_at(*op, {call.args, call.attrs, step->type}, call.algebra)
      .value_or(nullptr);
}

}  // namespace

Pass legalize_pass() {
  Pass pass;
  pass.name = "Legalize";
  pass.doc =
      "writes operators of the dialect `qnn` as plain ones and index notation, which every "
      "executor has; layouts and dtypes that a device wants are the matter of ConvertLayout and "
      "ToMixedPrecision";
  pass.level = 0;
  pass.example =
      R"(def f(x: Tensor[(4), int8]) { qnn.requantize(x, 0.5, 0, 0.25, 0, out_dtype="int8") })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([](const Expr& fn) { return replace_steps(fn, in_plain_operators); });
  };
  return pass;
}

}  // namespace relay::opt
