#include "opt/partition.h"

namespace relay::opt {

Pass partition_graph_pass() {
  Pass pass;
  pass.name = "PartitionGraph";
  pass.doc =
      "makes a function of each region that is marked for an external compiler, with "
      "`Compiler=\"x\"`, which runs it";
  pass.options = {{"mod_name", lang::AttrKind::String, lang::AttrValue("default"),
                   "a part of the names of these functions"},
                  {"bind_constants", lang::AttrKind::Bool, lang::AttrValue(true),
                   "constants become part of them; else they are parameters"}};
  pass.keeps = Keeps::Rounding;
  pass.level = 0;
  pass.example = R"(def f(x: Tensor[(4), float32]) {
  let y = annotation.compiler_begin(exp(x), compiler="dnnl");
  tanh(annotation.compiler_end(nn.relu(y), compiler="dnnl"))
})";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    partition_graph(
        program, {"tvmgen_" + options.get_string("mod_name"), options.get_bool("bind_constants")});
  };
  return pass;
}

}  // namespace relay::opt
