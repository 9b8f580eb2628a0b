#include <array>

#include "lang/build.h"
#include "opt/pass_program.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

struct FastForm {
  lang::NamedOp exact;
  const char* fast;
};
const std::array<FastForm, 4> kFastForms = {{{lang::NamedOp("exp"), "fast_exp"},
                                             {lang::NamedOp("tanh"), "fast_tanh"},
                                             {lang::NamedOp("erf"), "fast_erf"},
                                             {lang::NamedOp("nn.softmax"), "nn.fast_softmax"}}};

Expr fast_form(const Expr& step, const Definitions&) {
  for (const FastForm& form : kFastForms) {
    if (const auto* call = call_of(step, form.exact))
      return build::op(form.fast, call->args, with_attrs(call->attrs, {}));
  }
  return nullptr;
}

}  // namespace

Pass fast_math_pass() {
  Pass pass;
  pass.name = "FastMath";
  pass.doc =
      "calls `fast_exp`, `fast_tanh`, `fast_erf` and `nn.fast_softmax`, which are no less exact "
      "here";
  pass.level = 4;
  pass.example = R"(def f(x: Tensor[(4), float32]) { nn.softmax(exp(x) + tanh(x)) })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([](const Expr& fn) { return replace_steps(fn, fast_form); });
  };
  return pass;
}

}  // namespace relay::opt
