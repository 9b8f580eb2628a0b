#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass scalar_replacement_pass() {
  Pass pass;
  pass.name = "ScalarReplacement";
  pass.doc = "puts the fields of data that a branch makes in their place";
  pass.is_idempotent = false;  // what a constructor held may be taken apart in turn
  pass.example =
      R"(type Way { Left(float32), Right } def f(x: float32) { let (y, way) = if x > 0.0 { let z = sin(x); (z * x, Left(z)) } else { (x, Right) }; match way { Left(z) => z * y, Right => y } })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([&](const Expr& fn) {
      return eliminate_dead_code(to_anf(replace_data_by_fields(fn, &program), &program), &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
