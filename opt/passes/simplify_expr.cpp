#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass simplify_expr_pass() {
  Pass pass;
  pass.name = "SimplifyExpr";
  pass.doc = "algebra that a person would do, and that keeps every bit";
  pass.options = {{"fast_math", lang::AttrKind::Bool, lang::AttrValue(false),
                   "also what holds of real numbers only, as `0 - x` to `-x` or sums regrouped"}};
  pass.is_idempotent = false;
  pass.example =
      R"(def f(x: Tensor[(4), float32]) { negative(negative(x)) * ones([4]) + transpose(transpose(x)) })";
  pass.pipeline_place = 6;
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const SimplifyOptions how{program.host().evaluate_primitive, options.get_bool("fast_math")};
    program.each([&](const Expr& fn) {
      return eliminate_dead_code(to_anf(simplify(fn, how), &program), &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
