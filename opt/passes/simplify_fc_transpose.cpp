#include "lang/build.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::Expr;
namespace build = lang::build;

namespace {

// Are the axes of a matrix changed round?
bool swaps(const lang::Call& transpose) {
  const lang::AttrValue* axes = transpose.attrs->find("axes");
  if (!axes || axes->is_null()) return true;
  const auto order = transpose.attrs->get_ints("axes");
  return order.size() == 2 && (order[0] == 1 || order[0] == -1);
}

Expr without_transposition(const Expr& step, const Definitions& definitions) {
  const auto* dense = call_of(step, known::dense);
  const auto* transpose = dense ? definitions.call_of(dense->args[1], known::transpose) : nullptr;
  if (!transpose || !swaps(*transpose)) return nullptr;
  return build::op("nn.matmul", {dense->args[0], transpose->args[0]},
                   {{"transpose_a", false},
                    {"transpose_b", false},
                    {"out_dtype", *dense->attrs->find("out_dtype")}});
}

}  // namespace

Pass simplify_fc_transpose_pass() {
  Pass pass;
  pass.name = "SimplifyFCTranspose";
  pass.doc =
      "`nn.dense` of a transposed weight as `nn.matmul` of the weight itself; Relay changes the "
      "parameter instead";
  pass.keeps = Keeps::Rounding;
  pass.level = 4;
  pass.example =
      R"(def f(x: Tensor[(2, 3), float32], w: Tensor[(3, 4), float32]) { nn.dense(x, transpose(w)) })";
  pass.run = replacing(without_transposition);
  return pass;
}

}  // namespace relay::opt
