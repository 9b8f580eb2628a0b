#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass infer_type_pass() {
  Pass pass;
  pass.name = "InferType";
  pass.doc = "types every function";
  pass.in_anf = false;
  pass.level = 0;
  pass.example = R"(def twice(x: float32) { x + x })";
  pass.pipeline_place = 1;
  pass.run = [](PassProgram&, const lang::Attrs&) {};
  return pass;
}

}  // namespace relay::opt
