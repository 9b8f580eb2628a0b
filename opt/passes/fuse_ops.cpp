#include <algorithm>

#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

Pass fuse_ops_pass() {
  Pass pass;
  pass.name = "FuseOps";
  pass.doc = "groups connected tensor operators into functions with `Primitive=1`";
  pass.options = {{"max_depth", lang::AttrKind::Int, lang::AttrValue(0),
                   "the most operators of a group; 0: any number"}};
  pass.is_idempotent = false;  // groups move in front of what is not part of one
  pass.example = R"(def f(x: Tensor[(4, 4), float32]) { sum(exp(x) * x) + 1.0 })";
  pass.pipeline_place = 11;
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const auto most =
        static_cast<std::size_t>(std::max<std::int64_t>(0, options.get_int("max_depth")));
    program.each([&](const Expr& fn) { return fuse_operators(fn, most); });
  };
  return pass;
}

}  // namespace relay::opt
