#include "opt/pass_program.h"
#include "opt/step_sums.h"

namespace relay::opt {

Pass collect_step_sums_pass() {
  Pass pass;
  pass.name = "CollectStepSums";
  pass.doc =
      "keeps the rows of which a loop adds a product in each step, and adds those of many rows";
  pass.keeps = Keeps::Rounding;
  pass.level = 3;
  pass.example =
      R"(def total(n: int32, w: Tensor[(256, 128), float32], xs: Tensor[(9, 1, 256), float32], ys: Tensor[(9, 1, 128), float32]) -> Tensor[(256, 128), float32] { if n == 9 { w } else { total(n + 1, w + transpose(xs[n]) @ ys[n], xs, ys) } })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each_at_once([&](const PassProgram::Entry& entry) {
      return cleaned(collect_step_sums(entry.function, entry.name, StepSums::All), entry.function,
                     &program);
    });
  };
  return pass;
}

}  // namespace relay::opt
