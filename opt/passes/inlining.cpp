#include <algorithm>

#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass inlining_pass() {
  Pass pass;
  pass.name = "Inline";
  pass.doc =
      "puts the bodies of small functions, and of those with `Inline=1`, in place of their calls";
  pass.options = {{"max_bindings", lang::AttrKind::Int, lang::AttrValue(24),
                   "the most steps of a small function"}};
  pass.is_idempotent = false;
  pass.example = R"(def cube(x: float32) { x * x * x }
def f(x: float32) { cube(x) + cube(2.0) })";
  pass.pipeline_place = 4;
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    constexpr std::int64_t kMost = 1'000'000;
    const auto most =
        static_cast<int>(std::clamp<std::int64_t>(options.get_int("max_bindings"), 0, kMost));
    program.each([&](const Expr& fn) { return inline_calls(fn, program, most); });
  };
  return pass;
}

}  // namespace relay::opt
