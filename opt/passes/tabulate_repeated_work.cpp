#include "opt/pass_program.h"
#include "opt/repeated_work.h"

namespace relay::opt {

Pass tabulate_repeated_work_pass() {
  Pass pass;
  pass.name = "TabulateRepeatedWork";
  pass.doc = "computes once what several steps compute at the same points of index notation";
  pass.level = 3;
  pass.example =
      R"(def shares(x: Tensor[(100, 64), float32], w: Tensor[(64), float32]) -> (Tensor[(100), float32], Tensor[(100, 64), float32]) { let total = for i { sum k { exp(tanh(x[i, k] * w[k])) } }; (total, for i, k { exp(tanh(x[i, k] * w[k])) / total[i] }) })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each(
        [&](const lang::Expr& fn) { return cleaned(tabulate_repeated_work(fn), fn, &program); });
  };
  return pass;
}

}  // namespace relay::opt
